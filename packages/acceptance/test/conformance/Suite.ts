/** What the files of this directory say what they hold with, and what runs them on each host. */
import { afterAll, beforeAll, describe, it } from "@effect/vitest"
import * as MemoryStage from "../../src/conformance/MemoryStage.ts"
import * as ProcessStage from "../../src/conformance/ProcessStage.ts"
import { type RequirementId, texts } from "../../src/conformance/Requirements.ts"
import type { Host, MemoryStage as Memory, Stage } from "../../src/conformance/Stage.ts"

type Ids = RequirementId | ReadonlyArray<RequirementId>

/** Declares the tests of a file. */
export interface Define {
  /** On every host. */
  readonly holds: (ids: Ids, test: (stage: Stage) => Promise<void>) => void
  /** In memory only, on a host of the test's own: where time passes, or where the host is told something unusual. */
  readonly inTime: (ids: Ids, test: (stage: Memory) => Promise<void>, options?: MemoryStage.MemoryOptions) => void
  /** On the servers only: where something takes real time, such as a limit of the network. */
  readonly onServers: (ids: Ids, test: (stage: Stage) => Promise<void>) => void
  /** On a server and a Postgres of the test's own, in which it interferes. */
  readonly onPostgres: (ids: Ids, test: (stage: ProcessStage.FaultyStage) => Promise<void>) => void
}

/** The tests of a file. */
export type Section = (define: Define) => void

/** A test, which holds one sentence or some that are one behaviour. */
export interface Case {
  readonly ids: ReadonlyArray<RequirementId>
  readonly hosts: ReadonlyArray<Host>
}

/** What a file declares. */
export const casesOf = (section: Section): ReadonlyArray<Case> => {
  const cases: Array<Case> = []
  section({
    holds: (ids) => void cases.push({ ids: listOf(ids), hosts: ["memory", "PGlite", "Postgres"] }),
    inTime: (ids) => void cases.push({ ids: listOf(ids), hosts: ["memory"] }),
    onServers: (ids) => void cases.push({ ids: listOf(ids), hosts: ["PGlite", "Postgres"] }),
    onPostgres: (ids) => void cases.push({ ids: listOf(ids), hosts: ["Postgres"] })
  })
  return cases
}

/** Runs all tests in memory, each on a host of its own. */
export const runInMemory = (sections: Readonly<Record<string, Section>>): void => {
  const onStage = (test: (stage: Memory) => Promise<void>, options?: MemoryStage.MemoryOptions) => async () => {
    await using stage = await MemoryStage.start(options)
    await test(stage)
  }
  describe("memory", () => {
    for (const [file, section] of Object.entries(sections)) {
      describe(file, () =>
        section({
          holds: (ids, test) => it(titleOf(ids), onStage(test)),
          inTime: (ids, test, options) => it(titleOf(ids), onStage(test, options)),
          onServers: elsewhere,
          onPostgres: elsewhere
        }))
    }
  })
}

/** Runs the tests that hold on every host on one server, side by side. */
export const runAgainst = (host: Exclude<Host, "memory">, sections: Readonly<Record<string, Section>>): void => {
  let stage: Stage & AsyncDisposable | undefined
  const onStage = (test: (stage: Stage) => Promise<void>) => () => {
    if (stage === undefined) throw new Error("The server did not start")
    return test(stage)
  }
  beforeAll(async () => {
    stage = await ProcessStage.start(host)
  })
  afterAll(() => stage?.[Symbol.asyncDispose]())
  describe.concurrent(host, () => {
    for (const [file, section] of Object.entries(sections)) {
      if (!casesOf(section).some(({ hosts }) => hosts.includes(host))) continue
      describe(file, () =>
        section({
          holds: (ids, test) => it(titleOf(ids), onStage(test)),
          inTime: elsewhere,
          onServers: (ids, test) => it(titleOf(ids), onStage(test)),
          onPostgres: host === "Postgres" ? (ids, test) => it(titleOf(ids), onFaulty(test), faultyTimeout) : elsewhere
        }))
    }
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A test that another host runs. */
const elsewhere = () => {}

const onFaulty = (test: (stage: ProcessStage.FaultyStage) => Promise<void>) => async () => {
  await using stage = await ProcessStage.startFaulty()
  await test(stage)
}

/** Two servers are started, and a sweep comes round once a minute. */
const faultyTimeout = 180_000

const listOf = (ids: Ids): ReadonlyArray<RequirementId> => typeof ids === "string" ? [ids] : ids

/** The ids, by which the document finds the test, and what they stand for. */
const titleOf = (ids: Ids): string => {
  const list = listOf(ids)
  return `${list.join(", ")}: ${list.map((id) => texts.get(id)).join(" · ")}`
}
