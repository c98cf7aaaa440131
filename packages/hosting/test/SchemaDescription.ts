/** Descriptions of schemas of Postgres. */

/** Returns a query for everything in the schema, as Postgres describes it: a name and a description in each row. */
export const queryOf = (schema: string): string => `
  WITH relation AS (SELECT * FROM pg_class WHERE relnamespace = '${schema}'::regnamespace)
  SELECT 'relation ' || relname AS name, concat_ws(' ', relkind, relpersistence, reloptions) AS is FROM relation
  UNION ALL
  SELECT 'column ' || relname || '.' || attname, concat_ws(
    ' ', attnum, format_type(atttypid, atttypmod), attcollation::regcollation, attnotnull, attgenerated, attidentity,
    pg_get_expr(adbin, adrelid)
  )
  FROM relation
  JOIN pg_attribute ON attrelid = relation.oid AND attnum > 0 AND relkind = 'r'
  LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  UNION ALL
  SELECT 'constraint ' || conrelid::regclass || ' ' || conname, pg_get_constraintdef(oid)
  FROM pg_constraint WHERE connamespace = '${schema}'::regnamespace
  UNION ALL
  SELECT 'index ' || relname, pg_get_indexdef(oid) FROM relation WHERE relkind = 'i'
  UNION ALL
  SELECT 'trigger ' || tgname, pg_get_triggerdef(pg_trigger.oid)
  FROM pg_trigger JOIN relation ON tgrelid = relation.oid WHERE NOT tgisinternal
  UNION ALL
  SELECT 'function ' || proname, pg_get_functiondef(oid)
  FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace
`
