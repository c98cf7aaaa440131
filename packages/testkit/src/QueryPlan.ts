/** The execution plan of a statement, for tests of the rows that it reads. */
import { Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"

/** A step of a plan. */
export interface Step {
  /** The node type, for instance `Index Scan`. */
  readonly type: string
  readonly table: string | undefined
  readonly index: string | undefined
  /** Number of executions. */
  readonly loops: number
  /** Rows read in all loops, including those that a filter removed. */
  readonly rows: number
  /** Rows that a filter removed. */
  readonly filtered: number
}

/** Runs the statement and returns the steps of its plan, the outermost first. */
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

/** Postgres reports the average of one loop. */
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
