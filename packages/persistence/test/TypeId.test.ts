import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as TypeId from "../src/TypeId.ts"

const JobId = TypeId.define("gen", "JobId")

it.effect("round-trips through a uuid", () =>
  Effect.gen(function*() {
    for (let i = 0; i < 1_000; i++) {
      const id = yield* JobId.make
      assert.match(id, /^gen_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
      assert.strictEqual(JobId.fromUuid(JobId.toUuid(id)), id)
    }
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

it.effect("matches the vectors of the specification", () =>
  Effect.sync(() => {
    const vectors = [
      ["00000000-0000-0000-0000-000000000000", "gen_00000000000000000000000000"],
      ["00000000-0000-0000-0000-000000000001", "gen_00000000000000000000000001"],
      ["ffffffff-ffff-ffff-ffff-ffffffffffff", "gen_7zzzzzzzzzzzzzzzzzzzzzzzzz"],
      ["0110c853-1d09-52d8-d73e-1194e95b5f19", "gen_0123456789abcdefghjkmnpqrs"],
      ["01890a5d-ac96-774b-bcce-b302099a8057", "gen_01h455vb4pex5vsknk084sn02q"]
    ] as const
    for (const [uuid, id] of vectors) {
      assert.strictEqual<string>(JobId.fromUuid(uuid), id)
      assert.strictEqual(JobId.toUuid(JobId.fromUuid(uuid)), uuid)
    }
  }))

it.effect("sorts by the time of the clock", () =>
  Effect.gen(function*() {
    const early = yield* JobId.make
    yield* TestClock.adjust("1 second")
    assert.isTrue(early < (yield* JobId.make))
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

it.effect("rejects text that is not an id of its kind", () =>
  Effect.sync(() => {
    const wrong = [
      "",
      "gen_",
      "job_00000000000000000000000000",
      "gen_8zzzzzzzzzzzzzzzzzzzzzzzzz",
      "gen_0000000000000000000000000u"
    ]
    for (const text of wrong) {
      assert.isUndefined(JobId.parse(text))
      assert.isFalse(Schema.is(JobId.schema)(text))
    }
    assert.isTrue(Schema.is(JobId.schema)("gen_00000000000000000000000000"))
  }))
