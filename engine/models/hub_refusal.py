"""Which error it was: what the hub's client raises, told apart for people."""

from typing import Any

from engine.core.hub_errors import (
    AccessDenied,
    AccessPending,
    ChangedUpstream,
    HubError,
    HubTrouble,
    LicenceNotAccepted,
    NoNetwork,
    Offline,
    ProxyRefused,
    RateLimited,
    RepositoryMissing,
    TokenMissing,
    TokenRefused,
)

LONGEST_WAIT_S = 3600.0
_LOGIN = "The proxy wants a login."
# By name: this file must not import the client. The names are those of huggingface_hub and of httpx.
_UNREACHED = {"ConnectError", "ConnectTimeout"}
_SILENT = {"TimeoutException"}
_BROKEN = {"TransportError", "DecodingError"}
_STRANGE = {"JSONDecodeError", "TooManyRedirects"}
_NO_ADDRESS = {"UnsupportedProtocol", "InvalidURL"}


def refusal(error: BaseException, model_id: str, page: str, *, has_token: bool) -> HubError | None:
    """Return the error to show for what the client raised; None for what is no business of the hub's.

    `model_id` and `page` are empty where it was about no single repository; `has_token` says whether the call had one.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    response = getattr(error, "response", None)
    if "OfflineModeIsEnabled" in names:
        return Offline("HF_HUB_OFFLINE is set, so the hub is not asked.")
    if "ProxyError" in names:
        return ProxyRefused(_LOGIN if "407" in str(error) else "The proxy did not let the request through.")
    if response is not None:
        return _of_response(response, names, model_id, page, has_token=has_token)
    if names & _STRANGE:
        return NoNetwork.by_another()
    if names & _NO_ADDRESS:
        return HubError("The hub's address can't be used.", "Check HF_ENDPOINT: an address begins with https://.")
    if names & _UNREACHED:
        return _unreached(error)
    if names & _SILENT:
        return NoNetwork("The hub does not answer.")
    if names & _BROKEN:
        return NoNetwork("The connection to the hub broke off.")
    if "HFValidationError" in names:
        return RepositoryMissing(f"“{model_id}” is no name of a model.", "A name looks like author/model.")
    return None


def _unreached(error: Any) -> NoNetwork:
    """Name the proxy where one stands between: it may be the one that is not there."""
    try:
        proxy = proxy_for(error.request.url.scheme, error.request.url.host)
    except RuntimeError:  # The client does not say what it asked.
        proxy = ""
    if not proxy:
        return NoNetwork("The hub can't be reached.")
    hint = f"Check the connection. {ProxyRefused.default_hint}"
    return NoNetwork(f"The hub can't be reached through the proxy {proxy}.", hint)


def proxy_for(scheme: str, host: str) -> str:
    """Return the proxy that the system or the environment names for a host, as host and port; "" where there is none."""
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all") or ""
    return "" if proxy_bypass(host) else proxy.rpartition("//")[2].rpartition("@")[2].rstrip("/")


def _of_response(response: Any, names: set[str], model_id: str, page: str, *, has_token: bool) -> HubError:
    status = response.status_code
    said = response.headers.get("X-Error-Message") or ""
    gated = "GatedRepoError" in names
    if status == 407:
        return ProxyRefused(_LOGIN)
    if "Invalid credentials" in said or (status == 401 and has_token and not gated):
        return TokenRefused("The hub does not accept the token.")
    if gated:
        return _of_gate(said, model_id, page, has_token=has_token)
    if "RevisionNotFoundError" in names or "EntryNotFoundError" in names:
        return ChangedUpstream(f"{model_id} is no longer as it was when the download began.", link=page)
    if "RepositoryNotFoundError" in names or status == 404:
        hint = None if has_token else "Check the name. A private repository needs a token: enter one in Flint."
        return RepositoryMissing(f"The hub has no model “{model_id}”.", hint)
    if status == 429:
        wait = retry_after(response.headers)
        return RateLimited("The hub asks for fewer requests.", retry_s=wait)
    if status == 401:
        return TokenMissing(f"{model_id or 'This'} needs an account.", link=page)
    if status == 403:
        return AccessDenied(f"This account may not read {model_id}.", link=page)
    if status >= 500:
        return HubTrouble(f"The hub has a fault (status {status}).", retry_s=retry_after(response.headers))
    return HubError(f"The hub answered with status {status}.")


def _of_gate(said: str, model_id: str, page: str, *, has_token: bool) -> HubError:
    words = said.casefold()
    if not has_token:
        return TokenMissing(f"{model_id} is only for accounts that accepted its terms.", link=page)
    if "awaiting" in words or "pending" in words:
        return AccessPending(f"The authors of {model_id} have not answered yet.", link=page)
    if "rejected" in words or "denied" in words:
        return AccessDenied(f"The authors of {model_id} turned this account down.", link=page)
    return LicenceNotAccepted(f"The terms of {model_id} are not accepted yet.", link=page)


def retry_after(headers: Any) -> float | None:
    """Return the seconds that `Retry-After` asks for, at most an hour; None where it says none that can be read."""
    try:
        seconds = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return min(LONGEST_WAIT_S, seconds) if seconds >= 0 else None
