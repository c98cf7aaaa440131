/** A transaction that a caller has opened with a driver of its own. */
import { Context } from "effect"
import * as Turn from "./turn.ts"

/** The response to a statement. */
export interface Response {
  /** Its values are those that the codecs of `Rows` decode. */
  readonly rows: ReadonlyArray<object>
  /** The command of the response, such as `COMMIT`, if the driver returns it. */
  readonly command?: string | undefined
}

/** A parameter in a form that every driver sends unchanged. */
export type Parameter = null | boolean | string | Uint8Array

/** Runs a statement with the parameters `$1`, `$2` and so on. */
export type Query = (text: string, values: ReadonlyArray<Parameter>) => Promise<Response>

/** The statements that begin and end the unit of a call. */
export const unit = {
  begin: "SAVEPOINT kinora",
  release: "RELEASE SAVEPOINT kinora",
  rollback: "ROLLBACK TO SAVEPOINT kinora"
} as const

/** A transaction of a caller, and the calls that join it, which can be those of another copy of this module. */
export interface Transaction {
  readonly query: Query
  /** Held by one call at a time: a savepoint contains all statements that follow it on the connection. */
  readonly turn: Turn.Turn
  /** Functions of joined units that run after the commit of the caller. */
  readonly afterCommit: Array<(signal: AbortSignal) => Promise<void>>
}

/** Makes a transaction without calls. The transactions of one connection share their turns. */
export const make = (connection: object, query: Query): Transaction => ({
  query,
  turn: Turn.of(connection),
  afterCommit: []
})

/** The transaction that units of work of a fiber join. Default: none. */
export const Current = Context.Reference<Transaction | undefined>("@kinora/persistence/external/Current", {
  defaultValue: () => undefined
})
