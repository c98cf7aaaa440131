/** Books in the memory of the process, for tests and for hosts without a database. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Effect, Layer } from "effect"
import * as Cells from "./internal/memory/cells.ts"
import { findOpen, forget } from "./internal/memory/forget.ts"
import { load } from "./internal/memory/load.ts"
import * as Queries from "./internal/memory/queries.ts"
import { save } from "./internal/memory/save.ts"
import { LedgerStore } from "./LedgerStore.ts"

/** A store whose books end with its scope. */
export const layer: Layer.Layer<LedgerStore, never, MemoryBackend> = Layer.effect(
  LedgerStore,
  Effect.gen(function*() {
    const memory = yield* MemoryBackend
    const cells = Cells.make(memory)
    return LedgerStore.of({
      load: (query) => memory.access(() => load(cells, query)),
      save: (changes) => memory.access(() => save(cells, changes)),
      findExpired: (at, limit) => memory.access(() => Queries.findExpired(cells, at, limit)),
      lockAndFindOpen: (account, limit) => memory.access(() => findOpen(cells, account, limit)),
      forget: (query) => memory.access(() => forget(cells, query)),
      findBalances: (query) => memory.access(() => Queries.findBalances(cells, query)),
      findTransactions: (query) => memory.access(() => Queries.findTransactions(cells, query)),
      findStatement: (query) => memory.access(() => Queries.findStatement(cells, query)),
      findAccounts: (after, limit) => memory.access(() => Queries.findAccounts(cells, after, limit)),
      audit: (query) => memory.access(() => Queries.audit(cells, query)),
      findMoved: memory.access(() => Queries.findMoved(cells))
    })
  })
)
