"""The whole story: both clusters, both days."""

from tests.fleet import scenario_alder, scenario_birch, scenario_platform
from tests.fleet.places import empty_fleet
from tests.fleet.story import Story
from tests.fleet.world import Fleet


def simulate() -> Fleet:
    """Return the fleet with everything that happened in it."""
    story = Story()
    empty_fleet(story.fleet)
    scenario_platform.play(story)
    scenario_alder.play(story)
    scenario_birch.play(story)
    fleet = story.fleet
    fleet.lookups.sort(key=lambda lookup: (lookup.time, lookup.asked_as, lookup.type))
    fleet.connections.sort(key=lambda item: (item.start, item.client_address, item.client_port))
    fleet.requests.sort(key=lambda item: (item.time, item.bucket, item.key, item.client_address))
    fleet.readings.sort(key=lambda item: (item.time, item.pod.uid))
    fleet.flow_records.sort(key=lambda item: (item.start, item.local_address, item.peer_address))
    return fleet
