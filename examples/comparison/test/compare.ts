/** Compares solutions by scenarios. `outcomes.json` has the outcome of each, which docs/explanation/comparison.md shows. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"

/** Declares a test of each scenario on each solution of a task, which compares the outcome with that of `outcomes.json`. */
export const compare = <A extends { readonly close: () => Promise<void> }>(
  task: string,
  solutions: Readonly<Record<string, () => Promise<A>>>,
  scenarios: Scenarios<A>
) => {
  const stated = outcomes.filter((outcome) => outcome.task === task)
  it(`has an outcome of each scenario and solution of ${task}`, () => {
    assert.deepStrictEqual(stated.map(({ scenario }) => scenario), Object.keys(scenarios))
    for (const { outcomes } of stated) assert.deepStrictEqual(Object.keys(outcomes), Object.keys(solutions))
  })
  describe.each(Object.entries(solutions))(`${task} with %s`, (name, open) => {
    let solution: A
    beforeAll(async () => {
      solution = await open()
    })
    afterAll(() => solution.close())
    for (const [scenario, run] of Object.entries(scenarios)) {
      it(scenario, async () => {
        const outcome = stated.find((outcome) => outcome.scenario === scenario)
        assert.strictEqual(`${await run(solution)}`, outcome?.outcomes[name])
      })
    }
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A scenario, and its outcome by the name of the solution. */
interface Outcome {
  readonly task: string
  readonly scenario: string
  readonly outcomes: Readonly<Record<string, string>>
}

const outcomes: ReadonlyArray<Outcome> = JSON.parse(
  await readFile(new URL("../outcomes.json", import.meta.url), "utf8")
)

type Scenarios<A> = Readonly<Record<string, (solution: A) => Promise<string | number>>>
