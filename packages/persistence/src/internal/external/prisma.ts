/** Transactions of Prisma. */
import { type Query, unit } from "./transaction.ts"

/** The used part of the client of an interactive transaction of Prisma. */
export interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: Array<unknown>): PromiseLike<unknown>
  $executeRawUnsafe(text: string, ...values: Array<unknown>): PromiseLike<number>
}

/** Returns what runs statements in a transaction. */
export const queryOf = (tx: PrismaTransaction): Query => {
  const rowsOf: Query = async (text, values) => ({ rows: await tx.$queryRawUnsafe(text, ...values) as Array<object> })
  const execute = (text: string) => tx.$executeRawUnsafe(text)
  let zone = "UTC"
  const run: Query = async (text, values) => {
    if (text === unit.begin) {
      await execute(unit.begin)
      const { rows: [before] } = await rowsOf(beginUtc, [])
      zone = (before as { readonly zone: string }).zone
      return { rows: [] }
    }
    if (text === unit.release && zone !== "UTC") await rowsOf("SELECT set_config('TimeZone', $1, true) AS zone", [zone])
    if (savepointStatement.test(text)) {
      await execute(text)
      return { rows: [] }
    }
    return rowsOf(text, values)
  }
  return (text, values) => run(text, values).catch((error: unknown) => Promise.reject(withState(error)))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const savepointStatement = /^(SAVEPOINT|RELEASE|ROLLBACK TO) /

/** Prisma drops the offsets of times, which is right if they are of UTC. */
const beginUtc = "SELECT current_setting('TimeZone') AS zone, set_config('TimeZone', 'UTC', true) AS utc"

/** Returns an error with the SQLSTATE that Prisma has put into the details of its own. */
const withState = (error: unknown): unknown => {
  const state = stateOf(error)
  const message = error instanceof Error ? error.message : String(error)
  return state === undefined
    ? new Error(message, { cause: String(error) })
    : Object.assign(new Error(message, { cause: error }), { code: state })
}

const stateOf = (error: unknown): string | undefined => {
  const { meta } = error as { readonly meta?: Meta | undefined }
  const state = meta?.driverAdapterError?.cause?.originalCode ?? meta?.code
  return state !== undefined && /^[0-9A-Z]{5}$/.test(state) ? state : undefined
}

/** The details of `PrismaClientKnownRequestError`, of a driver adapter or of the engine before Prisma 7. */
interface Meta {
  readonly driverAdapterError?:
    | { readonly cause?: { readonly originalCode?: string | undefined } | undefined }
    | undefined
  readonly code?: string | undefined
}
