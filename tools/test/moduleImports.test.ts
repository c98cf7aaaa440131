import { assert, it } from "vitest"
import { rewrite } from "../moduleImports.ts"

it("imports modules instead of entry points, in as many lines", async () => {
  const code = `/** Docs. */
import { Array as Arr, Effect, identity, pipe as to } from "effect";
import { SqlClient } from "effect/sql";
import { Console } from "effect/Console";
import { Pool } from "pg";
export const text = 'import { Effect } from "effect";';
`
  assert.strictEqual(
    await rewrite(code),
    `/** Docs. */
import * as Arr from "effect/Array"; import * as Effect from "effect/Effect"; import { identity } from "effect/Function"; import { pipe as to } from "effect/Function";
import * as SqlClient from "effect/sql/SqlClient";
import { Console } from "effect/Console";
import { Pool } from "pg";
export const text = 'import { Effect } from "effect";';
`
  )
})

it("changes nothing the second time", async () => {
  const once = await rewrite(`import { Effect, Option } from "effect";\n`)
  assert.strictEqual(await rewrite(once), once)
})

it("names what it cannot import from a module", async () => {
  const error = await rewrite(`import { Effect, missing } from "effect";\n`).catch(String)
  assert.include(error, "missing of effect is not a module")
})
