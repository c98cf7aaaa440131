import { assert, describe, it } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Catalog, Model } from "@kinora/catalog"
import { Generators } from "@kinora/generator"
import { Effect, Option, Result, Schema } from "effect"
import { Yaml } from "effect/encoding"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Drivers from "../src/Drivers.ts"
import * as Settings from "../src/Settings.ts"
import { code, rowsBelow } from "./MarkdownTable.ts"

const document = Effect.promise(() =>
  readFile(new URL("../../../docs/reference/configuration.md", import.meta.url), "utf8")
)

/** The settings from a file with this text, and nothing else. */
const load = (text: string) =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-configuration-"))),
    (directory) =>
      Effect.gen(function*() {
        const path = join(directory, "kinora.config.yaml")
        yield* Effect.promise(() => writeFile(path, text))
        return yield* Settings.load({ KINORA_CONFIG: path })
      }),
    (directory) => Effect.promise(() => rm(directory, { recursive: true }))
  )

const examples = Effect.map(
  document,
  (text) => Array.from(text.matchAll(/^```yaml\n(.*?)^```$/gms), ([, example = ""]) => example)
)

describe("docs/reference/configuration.md", () => {
  it.effect("lists every setting with its variable, key, default and what it says", () =>
    Effect.gen(function*() {
      const rows = rowsBelow(yield* document, "## Settings")
      assert.deepStrictEqual(
        rows.map(([variable, key, fallback, , about]) => [variable, key, fallback, about]),
        Settings.docs.map(({ about, default: fallback, key, variable }) => [
          code(variable),
          code(key),
          code(fallback),
          about
        ])
      )
      assert.isEmpty(rows.filter(([, , , unit]) => unit === ""))
    }))

  it.effect("says of every setting why it is there", () =>
    Effect.gen(function*() {
      const text = yield* document
      for (const { key } of Settings.docs) assert.include(text, `\n- \`${key}\`: `)
    }))

  it.effect("lists every field of a model", () =>
    Effect.gen(function*() {
      const rows = rowsBelow(yield* document, "### Fields of a model")
      assert.deepStrictEqual(rows.map(([field]) => field), Object.keys(Model.Model.fields).map(code))
    }))

  it.effect("shows a file that says what is so without it", () =>
    Effect.gen(function*() {
      const [defaults = ""] = yield* examples
      assert.deepStrictEqual(yield* load(defaults), yield* load(""))
      // With what it leaves to be filled in it is a good file, too.
      const { adminToken, baseUrl, trustedProxies, urlSigningKeys, webhookKeys, webhookOwnDomains } = yield* load(
        defaults.replaceAll("# ", "")
      )
      assert.strictEqual(baseUrl, "https://media.example.com")
      assert.strictEqual(trustedProxies.length, 2)
      assert.isDefined(adminToken)
      assert.strictEqual(urlSigningKeys.length, 2)
      assert.strictEqual(webhookKeys.length, 1)
      assert.deepStrictEqual(webhookOwnDomains, ["example.com", "example.net"])
    }))

  it.effect("shows models that the catalog accepts, for drivers that a host has", () =>
    Effect.gen(function*() {
      const [, example = ""] = yield* examples
      const { models: configured } = yield* load(example)
      const models = Result.getOrThrow(Catalog.parse(configured))
      const { get } = yield* Generators.Generators
      for (const { driver, id } of models) {
        assert.isTrue(Option.isSome(get(driver.name)), id)
        if (driver.name === "scripted") yield* Schema.decodeUnknownEffect(Drivers.ScriptedOptions)(driver.options)
      }
      assert.deepStrictEqual(new Set(models.map(({ driver }) => driver.name)), new Set(["procedural", "scripted"]))
    }).pipe(Effect.provide(Drivers.layer)))

  it.effect("shows the whole table of plans, which is what counts without it (D25)", () =>
    Effect.gen(function*() {
      const plans = (yield* examples).find((example) => example.startsWith("plans:")) ?? ""
      const { planTable } = yield* load(plans)
      assert.deepStrictEqual(planTable, PlanTable.defaults)
      // Nothing of the table is left out.
      const written = Yaml.parse(plans)
      const encoded = Schema.encodeSync(PlanTable.PlanTable)(PlanTable.defaults)
      assert.deepStrictEqual(written, { plans: encoded })
    }))
})
