"""What databases lose: statements, clients, tools and the tasks of frameworks."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.decision import Call
from tallystick.policy.calls.reader import read_call
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.data import drops, drops_in_file, of_code, of_data
from tallystick.policy.risks.programs import programs
from tests.policy.risks.readings import FOLDER, HOME, Bare, reading
from tests.support.cases import each, each_case


@each_case("sql")
def test_sql_that_removes_tables_or_all_rows_is_known(sql: str) -> None:
    assert drops(sql)


@each_case("sql")
def test_other_sql_is_not(sql: str) -> None:
    assert not drops(sql)


@given(st.text(alphabet="dropDELETEfrom table;'-/*()=1 \nwhere", max_size=80))
def test_no_text_makes_it_fail(text: str) -> None:
    assert drops(f"drop table x; '{text}") or True  # a quote that stands open ends what is read
    drops(text)


def test_a_long_text_takes_no_long_time() -> None:
    for piece in ("delete from x ", "alter table x drop ", "'", "/*", "update a set ", "-- "):
        drops(piece * 50_000)


def found(command: str) -> bool:
    read = reading(command)
    return bool(list(of_code(read))) or any(of_data(started) for started in programs(read))


GONE = """
psql prod -c 'DROP TABLE users'
psql "$DATABASE_URL" -c 'TRUNCATE users'
psql prod <<< 'drop table users'
echo 'drop table users' | psql prod
psql -h db.example.org -d shop -c 'delete from users'
mysql -e 'DROP DATABASE shop' prod
mariadb prod -e 'truncate users'
cqlsh -e 'DROP KEYSPACE shop'
dropdb prod
mysqladmin -f drop prod
redis-cli FLUSHALL
redis-cli -n 2 flushdb
valkey-cli flushall
redis-cli --scan | xargs redis-cli del
redis-cli eval "return redis.call('flushall')" 0
mongosh prod --eval 'db.dropDatabase()'
mongosh prod --eval 'db.users.drop()'
mongo prod --eval 'db.users.deleteMany({})'
npx prisma migrate reset --force
npx prisma db push --accept-data-loss
rails db:drop
bundle exec rake db:reset
php artisan migrate:fresh --seed
python manage.py flush --no-input
alembic downgrade base
flyway clean
mix ecto.drop
npx sequelize-cli db:drop
docker exec pg psql -U postgres -c 'DROP DATABASE prod'
docker compose exec -T db dropdb shop
docker exec redis redis-cli FLUSHALL
echo FLUSHALL | redis-cli
printf 'MULTI\\nFLUSHALL\\nEXEC\\n' | redis-cli -h cache
docker exec -i redis redis-cli <<< 'flushdb async'
kubectl exec -it pg-0 -- psql -c 'drop table users'
poetry run alembic downgrade base
etcdctl del --prefix /
python3 -c "import psycopg; psycopg.connect('x').execute('DROP TABLE users')"
node -e "client.query('TRUNCATE users')"
"""
KEPT = """
psql shop_dev -c 'select 1'
psql shop_test -c 'TRUNCATE users'
psql postgres://localhost/test -c 'drop table users'
mysql -D ci -e 'drop table x'
dropdb shop_test
dropdb --if-exists test
createdb shop
redis-cli get flushall_at
echo 'get flushall' | redis-cli
echo FLUSHALL > todo.txt
redis-cli del key
mongosh --eval 'db.users.find()'
npx prisma migrate dev
npx prisma generate
rails db:migrate
php artisan migrate
python manage.py migrate
alembic upgrade head
alembic downgrade -1
docker exec pg psql -U postgres -c 'select 1'
sqlite3 dev.db 'drop table x'
git commit -m 'rails db:drop'
python3 -c "print('DROP TABLE users')"
echo 'DROP TABLE users' > migrations/2.sql
"""


@each("command", GONE.strip().splitlines())
def test_a_command_that_empties_a_database_is_known(command: str) -> None:
    assert found(command)


@each("command", KEPT.strip().splitlines())
def test_a_command_that_keeps_it_is_not(command: str) -> None:
    assert not found(command)


def test_a_database_in_a_file_is_judged_as_that_file() -> None:
    assert drops_in_file(reading("sqlite3 dev.db 'drop table x'"), "sqlite3")
    assert not drops_in_file(reading("sqlite3 dev.db 'select 1'"), "sqlite3")
    assert not drops_in_file(reading("psql x -c 'drop table x'"), "psql")


def of_tool(tool: str, args: dict[str, object]) -> CallReading:
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=FOLDER)
    return read_call(call, Bare({}), home=HOME, workspace=FOLDER)


@each(
    "tool, args, is_found",
    [
        ("mcp__postgres__query", {"sql": "DROP TABLE users"}, True),
        ("mcp__mysql__execute_sql", {"query": "delete from users"}, True),
        ("mcp__sqlite__write_query", {"query": "TRUNCATE users"}, True),
        ("execute_query", {"statements": ["select 1", "drop table users"]}, True),
        ("mcp__mysql__mysql_query", {"sql": "/* tidy */ -- now\ndelete from orders"}, True),
        ("mcp__db__run", {"request": {"sql": "drop table users"}}, True),
        ("mcp__redis__execute", {"command": "FLUSHALL"}, True),
        ("mcp__redis__execute", {"command": "# tidy up\nFLUSHALL"}, True),
        ("mcp__redis__execute", {"command": "# \x01\r\nflushdb async"}, True),
        ("mcp__redis__execute", {"command": f"# {'-' * 200}\n FLUSHALL"}, True),
        ("mcp__redis__execute", {"command": ": 'x'; FLUSHALL"}, True),
        ("mcp__redis__execute", {"commands": ["MULTI", "2 FLUSHALL", "EXEC"]}, True),
        ("mcp__redis__execute", {"commands": [["FLUSHALL"]]}, True),
        ("mcp__redis__execute", {"command": "EVAL \"redis.call('FLUSHALL')\" 0"}, True),
        ("mcp__redis__flush_db", {}, True),
        ("mcp__redis__execute", {"command": "GET flushall"}, False),
        ("mcp__postgres__query", {"sql": "SELECT 'drop table'"}, False),
        ("WebSearch", {"query": "drop table users postgres"}, False),
        ("mcp__db__search_docs", {"query": "drop table users"}, False),
        ("Write", {"file_path": "x.sql", "content": "DROP TABLE users"}, False),
        ("mcp__postgres__query", {"sql": None, "limit": 3}, False),
    ],
)
def test_tools_that_have_a_database_are_judged_by_what_they_are_given(
    tool: str, args: dict[str, object], is_found: bool
) -> None:
    assert bool(list(of_code(of_tool(tool, args)))) is is_found
