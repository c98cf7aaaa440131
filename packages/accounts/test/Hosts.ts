/** Hosts over the store of a suite, and what tests do with them. */
import { Effect, Option, Queue, type Redacted } from "effect"
import * as Accounts from "../src/Accounts.ts"
import { AccountStore } from "../src/AccountStore.ts"

/** One host over the store of the suite. */
export const makeHost = Accounts.make

/** The store, with a record of what it was asked and a way to meddle. */
export const makeSpy = Effect.fnUntraced(function*(meddle: Partial<AccountStore["Service"]> = {}) {
  const store = yield* AccountStore
  const lookUps: Array<ReadonlyArray<string>> = []
  const writes: Array<ReadonlyArray<string>> = []
  const written = yield* Queue.unbounded<void>()
  const spied: AccountStore["Service"] = {
    ...store,
    ...meddle,
    findOwners: (hashes) => {
      lookUps.push(hashes)
      return (meddle.findOwners ?? store.findOwners)(hashes)
    },
    noteUses: (uses) => {
      writes.push(uses.map(({ key }) => key))
      return Effect.onExit((meddle.noteUses ?? store.noteUses)(uses), () => Queue.offer(written, undefined))
    }
  }
  const host = (options?: Accounts.AccountsOptions) => Effect.provideService(makeHost(options), AccountStore, spied)
  return { host, lookUps, writes, written: Queue.take(written) }
})

let accountsMade = 0

export const makeAccount = (host: Accounts.Accounts["Service"]) =>
  host.create({ email: `user-${++accountsMade}@example.com` })

export const makeKey = Effect.fnUntraced(function*(host: Accounts.Accounts["Service"]) {
  const account = yield* makeAccount(host)
  const { key, record } = yield* host.createKey(account.id, "test")
  return { account, key, record }
})

export const makeKeys = (host: Accounts.Accounts["Service"], count: number) =>
  Effect.forEach(Array.from({ length: count }), () => makeKey(host))

export const reasonOf = <A>(effect: Effect.Effect<A, Accounts.Failure>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag === "AccountsError" ? error.reason._tag : error._tag)

export const isKnown = (host: Accounts.Accounts["Service"], key: Redacted.Redacted) =>
  Effect.map(host.authenticate(key), Option.isSome)
