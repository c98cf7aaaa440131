/** How Postgres ran a statement, for tests that it reads no more than it must. */
import { Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"

/** A step of a plan. */
export interface Step {
  /** Such as `Index Scan`. */
  readonly type: string
  readonly table: string | undefined
  readonly index: string | undefined
  /** How often it ran. */
  readonly loops: number
  /** Rows that it looked at in all its loops together, those that a filter took away included. */
  readonly rows: number
  /** Of these, those that a filter took away. */
  readonly filtered: number
}

/** Runs the statement, and answers with the steps of its plan, the outermost first. */
export const explain = Effect.fnUntraced(function*(statement: Statement.Statement<unknown>) {
  const sql = yield* SqlClient.SqlClient
  const answer = yield* sql`EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`
  const [{ "QUERY PLAN": [{ Plan }] }] = yield* Schema.decodeUnknownEffect(Answer)(answer)
  return stepsOf(Plan)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Node {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly Plans?: ReadonlyArray<Node>
}

const Node: Schema.Codec<Node> = Schema.Struct({
  "Node Type": Schema.String,
  "Relation Name": Schema.optionalKey(Schema.String),
  "Index Name": Schema.optionalKey(Schema.String),
  "Actual Rows": Schema.Number,
  "Actual Loops": Schema.Number,
  "Rows Removed by Filter": Schema.optionalKey(Schema.Number),
  Plans: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<Node> => Node)))
})

const Answer = Schema.Tuple([
  Schema.Struct({ "QUERY PLAN": Schema.Tuple([Schema.Struct({ Plan: Node })]) })
])

/** Postgres tells rows of one loop, on average. */
const stepsOf = (node: Node): ReadonlyArray<Step> => {
  const loops = node["Actual Loops"]
  const filtered = (node["Rows Removed by Filter"] ?? 0) * loops
  const step: Step = {
    type: node["Node Type"],
    table: node["Relation Name"],
    index: node["Index Name"],
    loops,
    rows: node["Actual Rows"] * loops + filtered,
    filtered
  }
  return [step, ...(node.Plans ?? []).flatMap(stepsOf)]
}
