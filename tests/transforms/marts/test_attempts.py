"""When connections were answered."""

from transforms.sql import SqlSession

EVENTS = """
CREATE TEMP TABLE attempt_flows AS
SELECT * FROM (VALUES
    ('refused', 5, FALSE, FALSE, TRUE), ('refused', 7, TRUE, TRUE, FALSE),
    ('refused', 9, TRUE, FALSE, FALSE),
    ('accepted', 5, FALSE, FALSE, TRUE), ('accepted', 7, TRUE, FALSE, FALSE),
    ('accepted', 9, TRUE, TRUE, FALSE),
    ('at once', 7, TRUE, TRUE, FALSE), ('at once', 7, TRUE, FALSE, FALSE),
    ('at once', 7, TRUE, TRUE, FALSE),
    ('silent', 5, FALSE, FALSE, TRUE), ('silent', 6, FALSE, FALSE, TRUE),
    ('asked twice', 5, FALSE, FALSE, TRUE), ('asked twice', 900005, FALSE, FALSE, TRUE),
    ('soon', 5, FALSE, FALSE, TRUE), ('soon', 900004, FALSE, FALSE, TRUE),
    ('begun', 5, FALSE, FALSE, TRUE), ('begun', 900005, FALSE, FALSE, FALSE)
) AS t (connection_id, us, is_reply, is_reset, is_opening)
"""


def test_a_connection_is_refused_where_its_first_answer_is_a_reset() -> None:
    with SqlSession() as session:
        run = session.connection.execute
        run(EVENTS)
        session.create("replies", "transforms.marts", "attempt_replies")
        asked = (
            "SELECT connection_id, first_us, last_us, reply_us, is_refused, is_repeated "
            "FROM replies"
        )
        assert sorted(run(asked).fetchall()) == [
            ("accepted", 5, 9, 7, False, False),
            ("asked twice", 5, 900_005, None, False, True),
            ("at once", 7, 7, 7, False, False),
            ("begun", 5, 900_005, None, False, False),
            ("refused", 5, 9, 7, True, False),
            ("silent", 5, 6, None, False, False),
            ("soon", 5, 900_004, None, False, False),
        ]
