"""When connections were answered."""

from transforms.sql import SqlSession

EVENTS = """
CREATE TEMP TABLE attempt_flows AS
SELECT * FROM (VALUES
    ('refused', 5, FALSE, FALSE), ('refused', 7, TRUE, TRUE), ('refused', 9, TRUE, FALSE),
    ('accepted', 5, FALSE, FALSE), ('accepted', 7, TRUE, FALSE), ('accepted', 9, TRUE, TRUE),
    ('at once', 7, TRUE, TRUE), ('at once', 7, TRUE, FALSE), ('at once', 7, TRUE, TRUE),
    ('silent', 5, FALSE, FALSE)
) AS t (connection_id, us, is_reply, is_reset)
"""


def test_a_connection_is_refused_where_its_first_answer_is_a_reset() -> None:
    with SqlSession() as session:
        run = session.connection.execute
        run(EVENTS)
        session.create("replies", "transforms.marts", "attempt_replies")
        asked = "SELECT connection_id, first_us, last_us, reply_us, is_refused FROM replies"
        assert sorted(run(asked).fetchall()) == [
            ("accepted", 5, 9, 7, False),
            ("at once", 7, 7, 7, False),
            ("refused", 5, 9, 7, True),
            ("silent", 5, 5, None, False),
        ]
