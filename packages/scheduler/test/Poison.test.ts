import { layer } from "@effect/vitest"
import { Schema } from "effect"
import { memory } from "./Fixture.ts"
import { play } from "./PoisonStory.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Story = Schema.Struct({
  innocent: between(0, 8),
  poisoned: between(0, 4),
  slots: between(1, 6),
  attemptsMax: between(2, 5)
})

layer(memory)("Jobs that end the process of their worker", (it) => {
  it.effect.prop("fail, and no other job fails because of them", [Story], ([story]) => play(story), {
    arbitrary: { runs: 200 }
  })
})
