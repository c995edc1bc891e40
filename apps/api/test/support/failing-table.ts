// A table that fails as if the database went away in the middle of a statement.
import { connect } from '../../src/storage/sql.ts'

/** From now on such a statement that meets a row fails, until what is given back is called. */
export async function failing(databaseUrl: string, table: string, statement: 'insert' | 'update' | 'delete') {
  const sql = connect(databaseUrl, { max: 1 })
  await sql.unsafe(`
    create function fails() returns trigger language plpgsql as
      $$ begin raise exception 'played by a test' using errcode = '57P01'; end $$;
    create trigger fails before ${statement} on ${table} for each row execute function fails()`)
  return async () => {
    await sql.unsafe('drop function fails cascade')
    await sql.end()
  }
}
