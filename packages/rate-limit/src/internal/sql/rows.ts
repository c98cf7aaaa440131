/** Demands and keys as tables of statements. */
import { Rows } from "@kinora/persistence"
import type * as Counter from "../counter.ts"

/** The columns of a demand in every statement. */
export const demandColumns: Rows.Columns<Counter.Demand> = {
  ...Rows.fields({ key: "text", takes: "int4", cost: "int8" }),
  maximum: ["int8", ({ limit }) => limit]
}

/** The table `demand`, with the order of the demands as `place`. */
export const demandRows = (demands: ReadonlyArray<Counter.Demand>, columns = demandColumns) =>
  Rows.table("demand", demands, columns, { place: "place" })

/** The table `wanted`, with the keys of counters. */
export const wantedRows = (counters: ReadonlyArray<Counter.Counted>) =>
  Rows.table("wanted", counters, keyColumns, { unknownLength: true })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyColumns: Rows.Columns<Counter.Counted> = Rows.fields({ key: "text" })
