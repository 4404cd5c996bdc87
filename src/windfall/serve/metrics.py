"""What the service counts, in the text format that Prometheus reads."""

import threading
from collections import Counter, defaultdict

__all__ = ["Metrics"]

#: Upper bounds of the latency histogram, in seconds.
_METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS", "PUT")
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Requests by route and status, how long they took, and what is going on now.

    Example:
        >>> metrics = Metrics()
        >>> metrics.answered("GET", "/health", 200, 0.002)
        >>> metrics.text({}).splitlines()[1]
        'windfall_requests_total{method="GET",route="/health",status="200"} 1'
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._slots: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        self._seconds: Counter[str] = Counter()

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        method = method if method in _METHODS else "other"  # anybody can make up more
        place = next((i for i, bound in enumerate(_BOUNDS) if seconds <= bound), len(_BOUNDS))
        with self._guard:
            self._requests[method, route, status] += 1
            self._slots[route][place] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]

    def text(self, gauges: dict[str, int]) -> str:
        """All counts, and other numbers of the moment by name."""
        lines = ["# TYPE windfall_requests_total counter"]
        with self._guard:
            for (method, route, status), count in sorted(self._requests.items()):
                labels = f'method="{method}",route="{route}",status="{status}"'
                lines.append(f"windfall_requests_total{{{labels}}} {count}")
            lines.append("# TYPE windfall_request_seconds histogram")
            for route, slots in sorted(self._slots.items()):
                total = 0
                for bound, count in zip((*map(str, _BOUNDS), "+Inf"), slots, strict=True):
                    total += count
                    labels = f'route="{route}",le="{bound}"'
                    lines.append(f"windfall_request_seconds_bucket{{{labels}}} {total}")
                lines.append(f'windfall_request_seconds_count{{route="{route}"}} {total}')
                seconds = self._seconds[route]
                lines.append(f'windfall_request_seconds_sum{{route="{route}"}} {seconds:.6f}')
        for name, value in gauges.items():
            lines += [f"# TYPE windfall_{name} gauge", f"windfall_{name} {value}"]
        return "\n".join(lines) + "\n"
