"""Cut points."""

from data.channels import Channels
from data.database import Database


async def test_a_cut_point_stays_where_it_was_moved(database: Database):
    channels = Channels(database)
    assert await channels.cut_point(1) is None
    await channels.move_cut_point(1, 100)
    await channels.move_cut_point(2, 7)
    await channels.move_cut_point(1, 50)
    assert (await channels.cut_point(1), await channels.cut_point(2)) == (50, 7)


async def test_a_watermark_only_rises_and_is_a_guilds_own(database: Database):
    channels = Channels(database)
    await channels.raise_watermark(1, 5, 70)
    await channels.raise_watermark(1, 5, 60)
    await channels.raise_watermark(2, 6, 80)
    assert await channels.watermarks(1) == {5: 70}
    assert await channels.watermarks(3) == {}
