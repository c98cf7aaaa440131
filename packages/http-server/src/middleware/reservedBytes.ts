/** Bytes of a download that are reserved in blocks while they are sent. */
import type { Budget } from "@kinora/rate-limit"
import { type DateTime, Effect } from "effect"

type Budgets = Budget.Budget["Service"]

/** A block of reserved bytes. Changes while the download proceeds. */
export interface Block {
  readonly keys: ReadonlyArray<string>
  readonly blockBytes: number
  /** Empty if the block could not be reserved. */
  reserved: ReadonlyArray<Budget.Reserved>
  /** Bytes of the block that are not sent. */
  left: number
  /** Bytes of the request after the block. */
  rest: number
}

/** A limit that does not have room for the request. */
export interface Refused {
  readonly key: string
  /** The time of the request, by the clock of the storage. */
  readonly at: DateTime.Utc
  readonly resetsAt: DateTime.Utc
}

/**
 * Reserves the first block of a request until the scope closes, if every limit has room
 * for the whole request. Otherwise returns the first limit that has none.
 */
export const reserve = Effect.fnUntraced(function*(
  budget: Budgets,
  limits: ReadonlyArray<{ readonly key: string; readonly limit: number }>,
  amount: number,
  blockBytes: number
) {
  const left = Math.min(amount, blockBytes)
  const rest = amount - left
  const block = yield* Effect.acquireRelease(
    Effect.map(
      // The limit is reduced by the rest, so that the block is granted only if the rest fits too.
      budget.reserveAll(limits.map(({ key, limit }) => ({
        key,
        limit: Math.max(limit - rest, 0),
        amount: left,
        // Small ranges are reserved in blocks, so that few of them need a statement.
        advanceMax: amount * smallPart <= blockBytes ? blockBytes : 0,
        mayWait: true
      }))),
      (reserved): Block => ({ keys: limits.map(({ key }) => key), blockBytes, reserved, left, rest })
    ),
    (block) => settle(budget, block)
  )
  const refused = block.reserved.flatMap((one, index): ReadonlyArray<Refused> =>
    one._tag === "Refused" ? [{ key: block.keys[index] ?? "", at: one.at, resetsAt: one.resetsAt }] : []
  )
  return { block, refused: refused[0] }
})

/** Makes a block that counts the bytes of a request until the scope closes, whatever the limits are. Reserves with the first bytes. */
export const reserveUnlimited = (budget: Budgets, keys: ReadonlyArray<string>, amount: number, blockBytes: number) =>
  Effect.acquireRelease(
    Effect.sync((): Block => ({ keys, blockBytes, reserved: [], left: 0, rest: amount })),
    (block) => settle(budget, block)
  )

/** Counts bytes before they are sent, and reserves the next block when they exceed the current one. */
export const count = (budget: Budgets, block: Block, bytes: number): Effect.Effect<void> => {
  block.left -= bytes
  return block.left < 0 ? advance(budget, block) : Effect.void
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A request of at most a block divided by this number is small. */
const smallPart = 16

/** Returns the unsent bytes of the last block. Earlier blocks were sent. */
const settle = (budget: Budgets, { left, reserved }: Block) =>
  left === 0 ? Effect.void : Effect.forEach(
    reserved,
    (one) => one._tag === "Granted" ? budget.settle(one.reservation, one.reservation.amount - left) : Effect.void,
    { discard: true }
  ).pipe(
    // The bytes then stay counted until the day ends.
    Effect.catch((error) => Effect.logWarning("Failed to return the unsent bytes of a download", error))
  )

/** Reserves the next block without a limit: the limits were checked before the first byte. */
const advance = Effect.fnUntraced(
  function*(budget: Budgets, block: Block) {
    const amount = Math.max(Math.min(block.blockBytes, block.rest), -block.left)
    block.reserved = []
    block.left += amount
    block.rest -= amount
    block.reserved = yield* budget.reserveAll(
      block.keys.map((key) => ({ key, limit: Number.MAX_SAFE_INTEGER, amount }))
    )
  },
  Effect.catch((error) => Effect.logWarning("Failed to count bytes of a download", error)),
  Effect.uninterruptible
)
