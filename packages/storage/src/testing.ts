/**
 * The contract of `BlobStore` as a Vitest suite. Requires `@effect/vitest` and `vitest`.
 *
 *     suite("my store", MyBlobStore.layer({ bucket: "test" }))
 */
import { layer } from "@effect/vitest"
import type { Layer } from "effect"
import type { BlobStore } from "./BlobStore.ts"
import { failureTests } from "./internal/contract/failures.ts"
import { keyTests } from "./internal/contract/keys.ts"
import { putTests } from "./internal/contract/puts.ts"
import { rangeTests } from "./internal/contract/ranges.ts"
import { replacementTests } from "./internal/contract/replacements.ts"

/**
 * Registers the tests of the contract. The store has to be empty. The tests write blobs of up to 1 MiB, and time is real,
 * so raise `testTimeout` for a store over a slow network.
 */
export const suite = <E>(name: string, store: Layer.Layer<BlobStore, E>): void =>
  layer(store, { excludeTestServices: true })(`BlobStore (${name})`, (it) => {
    putTests(it)
    replacementTests(it)
    failureTests(it)
    rangeTests(it)
    keyTests(it)
  })
