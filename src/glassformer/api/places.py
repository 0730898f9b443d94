"""Addresses of attention maps in URLs.

In:   a recording, and `decoder.cross.3`, `decoder.self.0@2`, or the index of a map as in old links.
Out:  the map.
"""

from glassformer.errors import ApiError
from glassformer.recording import AttentionMap, Recording


def find_map(recording: Recording, address: str) -> AttentionMap:
    """The map at an address."""
    if address.isascii() and address.isdecimal() and len(address) < 10 and int(address) < len(recording.maps):
        return recording.maps[int(address)]
    for each in recording.maps:
        if each.place.address == address:
            return each
    example = recording.maps[0].place.address if recording.maps else "decoder.self.0"
    raise ApiError(
        "api.no_map", status=404, address=address[:80], example=example, last=len(recording.maps) - 1
    )
