"""The arithmetic behind the gauges. Pure functions: sizes in bytes, times in seconds, rates in tokens a second."""

from collections import deque


def rate(count: float, seconds: float) -> float:
    """Return `count` / `seconds`; 0 where no time has passed."""
    return count / seconds if seconds > 0 and count > 0 else 0.0


def time_per_output_token_s(decode_s: float, output_tokens: int) -> float:
    """Return TPOT = decode time / (output tokens − 1): the first token belongs to the prefill. 0 below two tokens."""
    return decode_s / (output_tokens - 1) if output_tokens > 1 and decode_s > 0 else 0.0


def kv_bytes(layers: int, kv_heads: int, head_dim: int, tokens: int, bytes_per_element: float = 2.0) -> float:
    """Return the size of a growing KV cache, keys and values: layers · 2 · kv_heads · head_dim · tokens · bytes_per_element."""
    return layers * 2 * kv_heads * head_dim * tokens * bytes_per_element


def quantized_bytes(elements: int, bits: int, group_size: int) -> float:
    """Return the size of group-quantized numbers: elements · (bits + 32 / group_size) / 8, a 16-bit scale and bias a group."""
    return elements * (bits + 32 / group_size) / 8


def decode_traffic_bytes(weight_bytes: float, kv_bytes_read: float) -> float:
    """Return what one decode step reads: the weights it uses (of experts, the active ones) plus the KV cache."""
    return weight_bytes + kv_bytes_read


def prefill_traffic_bytes(weight_bytes: float, tokens: int, chunk: int) -> float:
    """Return what a prefill reads of the weights: ⌈tokens / chunk⌉ · weight_bytes, since a chunk reads them once."""
    if tokens <= 0 or chunk <= 0:
        return 0.0
    return -(-tokens // chunk) * weight_bytes


def decode_ceiling_tps(bandwidth_bytes_per_s: float, weight_bytes: float, kv_bytes_read: float = 0.0) -> float:
    """Return the most tokens a second that memory allows: bandwidth / (weight bytes + KV bytes read a token).

    0 where the bandwidth or the traffic is not known (given as 0).
    """
    return rate(bandwidth_bytes_per_s, decode_traffic_bytes(weight_bytes, kv_bytes_read))


def prefill_flops(parameters: int, tokens: int) -> int:
    """Return the arithmetic of a dense prefill: 2 · N · P, one multiplication and one addition a parameter and token."""
    return 2 * parameters * tokens


def prefill_ceiling_tps(flops_per_s: float, parameters: int) -> float:
    """Return the most prompt tokens a second that arithmetic allows: FLOP/s / (2 · N); 0 where either is not known."""
    return rate(flops_per_s, prefill_flops(parameters, 1))


def efficiency(measured: float, ceiling: float) -> float:
    """Return η = measured / ceiling; 0 where the ceiling is not known. Good decode kernels reach 0.6 to 0.8."""
    return rate(measured, ceiling)


class RollingRate:
    """The live rate over the last `window_s` seconds, fed with (time, tokens)."""

    def __init__(self, window_s: float) -> None:
        self._window = window_s
        self._samples: deque[tuple[float, float]] = deque()
        self._sum = 0.0

    def add(self, time: float, tokens: float) -> None:
        """Take note that `tokens` were made by `time` (seconds of a monotonic clock)."""
        self._samples.append((time, tokens))
        self._sum += tokens
        self._forget(time)

    def rate(self, now: float) -> float:
        """Return tokens a second: (tokens in the window, but the oldest sample's) / (now − the oldest sample's time).

        The oldest sample only marks where the time starts: what it brought was made before. 0 until a second sample, and again
        when the window has emptied.
        """
        self._forget(now)
        if not self._samples:
            return 0.0
        started, before = self._samples[0]
        return rate(self._sum - before, now - started)

    def _forget(self, now: float) -> None:
        while self._samples and self._samples[0][0] < now - self._window:
            self._sum -= self._samples.popleft()[1]
