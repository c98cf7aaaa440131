/** The middleware with limits in Postgres. */
import { afterAll, beforeAll, describe } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { createLimits, type Limits } from "../src/promise.ts"
import { countingSuite } from "./http/suite.ts"

describe("on Postgres", () => {
  let program: PgProgram.PgProgram
  let limits: Limits
  beforeAll(async () => {
    program = await PgProgram.open()
    limits = await createLimits({ pool: program.pool, sweep: false })
  })
  afterAll(async () => {
    await limits.close()
    await program.close()
  })
  countingSuite(() => limits)
})
