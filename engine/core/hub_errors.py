"""What can go wrong with the hub, each with what to do about it."""

from typing import ClassVar

from engine.core.errors import ErrorInfo, FlintError
from engine.core.machine import THIS_MACHINE


class HubError(FlintError):
    """Base of the hub's errors. `link` is a page that mends it, `retry_s` after how many seconds trying again makes sense."""

    code = "hub"
    exit_code = 30
    http_status = 502
    default_hint = f"Try again later. Models on {THIS_MACHINE} work without the hub."
    passing: ClassVar[bool] = False
    """Whether it goes away by itself: downloads wait and try again."""

    def __init__(self, text: str, hint: str | None = None, *, link: str = "", retry_s: float | None = None) -> None:
        super().__init__(text, hint)
        self.link = link
        self.retry_s = retry_s

    def info(self) -> ErrorInfo:
        """Return the error as plain data."""
        return ErrorInfo(self.code, self.text, self.hint, self.exit_code, self.http_status, self.link)


class RepositoryMissing(HubError):
    """The hub has no such repository, or hides it from this account."""

    code = "hub-no-repository"
    exit_code = 31
    http_status = 404
    default_hint = "Check the name. A private repository needs a token of an account that may see it."


class NoNetwork(HubError):
    """The hub cannot be reached."""

    code = "hub-no-network"
    exit_code = 32
    http_status = 503
    default_hint = f"Check the connection. What was fetched is kept, and models on {THIS_MACHINE} work without it."
    passing = True

    @classmethod
    def by_another(cls) -> "NoNetwork":
        """Return the error for an answer that is not the hub's, as that of a hotel's sign-in page."""
        return cls("What answered is not the hub.", "The network may want you to sign in first: open any page in a browser.")


class ProxyRefused(HubError):
    """A proxy stands between and refuses."""

    code = "hub-proxy"
    exit_code = 33
    default_hint = "Check HTTPS_PROXY and the proxy's login, or set NO_PROXY for the hub."


class RateLimited(HubError):
    """The hub asks to wait."""

    code = "hub-rate-limit"
    exit_code = 34
    http_status = 429
    default_hint = "Try again in a minute or so. With a token the hub allows more."
    passing = True


class TokenMissing(HubError):
    """The repository needs an account."""

    code = "hub-no-token"
    exit_code = 35
    http_status = 401
    default_hint = "Make a token with read access on the hub's settings page and enter it in Flint."


class TokenRefused(HubError):
    """The hub does not know the token."""

    code = "hub-token-refused"
    exit_code = 36
    http_status = 401
    default_hint = "It may have expired or been revoked. Make a new one and enter it in Flint."


class LicenceNotAccepted(HubError):
    """The repository is gated, and this account has not accepted its terms."""

    code = "hub-licence"
    exit_code = 37
    http_status = 403
    default_hint = "Accept the terms once on the model's page, then try again."


class AccessPending(HubError):
    """The authors have not answered the account's request yet."""

    code = "hub-access-pending"
    exit_code = 38
    http_status = 403
    default_hint = "The authors decide. Try again when they have said yes."


class AccessDenied(HubError):
    """The authors turned the account down, or the token may not read this."""

    code = "hub-access-denied"
    exit_code = 39
    http_status = 403
    default_hint = "Use another account, or a token with read access to this repository."


class ChangedUpstream(HubError):
    """The repository changed while it was fetched."""

    code = "hub-changed"
    exit_code = 40
    http_status = 409
    default_hint = "Start the download again: what did not change is not fetched twice."


class HubTrouble(HubError):
    """The hub itself has a fault."""

    code = "hub-trouble"
    exit_code = 41
    default_hint = "The fault is the hub's. Try again in a while."
    passing = True


class FileDamaged(HubError):
    """A file did not arrive as the hub describes it, again and again."""

    code = "hub-file-damaged"
    exit_code = 42
    default_hint = "Try again later or on another network; only this file is fetched again."


class Offline(HubError):
    """The environment forbids the hub."""

    code = "hub-offline"
    exit_code = 43
    http_status = 503
    default_hint = f"Unset HF_HUB_OFFLINE to use the hub. Models on {THIS_MACHINE} work without it."
