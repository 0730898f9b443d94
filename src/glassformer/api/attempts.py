"""Wrong tokens and passwords: after a few in a minute a client, or a name, has to wait."""

import time
from collections import OrderedDict, deque

from glassformer.errors import ApiError

_MINUTE = 60.0  # seconds
_REMEMBERED = 10_000  # clients and names whose wrong attempts are counted


class Attempts:
    """Wrong tokens and passwords within a minute, by client or name."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, key: str) -> None:
        """ApiError after too many: before anything is compared, for a right guess must wait as well."""
        times = self._times.get(key)
        if times and len(times) >= self._most and time.monotonic() - times[0] < _MINUTE:
            raise ApiError("api.too_many_attempts", status=429)

    def add(self, key: str) -> None:
        """One more."""
        while len(self._times) >= _REMEMBERED:
            self._times.popitem(last=False)
        self._times.setdefault(key, deque(maxlen=self._most)).append(time.monotonic())
