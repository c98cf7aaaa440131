/** Declares conformance cases and runs them on each host. */
import { afterAll, afterEach, beforeAll, describe, it } from "@effect/vitest"
import { inject } from "@effect/vitest"
import * as MemoryStage from "../../src/conformance/MemoryStage.ts"
import * as ProcessStage from "../../src/conformance/ProcessStage.ts"
import * as Report from "../../src/conformance/Report.ts"
import { type RequirementId, texts } from "../../src/conformance/Requirements.ts"
import type { Host, MemoryStage as Memory, Stage } from "../../src/conformance/Stage.ts"

type Ids = RequirementId | ReadonlyArray<RequirementId>

/** Declares the cases of a file. Each names the requirements that it proves. Cases share hosts and use accounts of their own. */
export interface Define {
  /** On every host. Time does not pass in memory. */
  readonly holds: (ids: Ids, test: (stage: Stage) => Promise<void>) => void
  /** In memory only, on a host of its own: the case moves time or needs unusual settings. */
  readonly inTime: (ids: Ids, test: (stage: Memory) => Promise<void>, options?: MemoryStage.MemoryOptions) => void
  /** On the servers only: the case takes real time, such as a network timeout. */
  readonly onServers: (ids: Ids, test: (stage: Stage) => Promise<void>) => void
  /** On Postgres only: the case needs a second server or changes rows. */
  readonly onPostgres: (ids: Ids, test: (stage: ProcessStage.PostgresStage) => Promise<void>) => void
}

/** Declares the cases of a file. */
export type Section = (define: Define) => void

/** A declared case. */
export interface Case {
  readonly ids: ReadonlyArray<RequirementId>
  readonly hosts: ReadonlyArray<Host>
}

/** Cases that a file declares. */
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

/** Runs the cases in memory. */
export const runInMemory = (sections: Sections): void => {
  const shared = sharedStage(() => MemoryStage.start({ workers: 256 }))
  describe("memory", () =>
    describeEach("memory", sections, {
      holds: (ids, test) => it(titleOf(ids), () => test(shared())),
      inTime: (ids, test, options) =>
        it(titleOf(ids), async () => {
          await using stage = await MemoryStage.start(options)
          await test(stage)
        }),
      onServers: elsewhere,
      onPostgres: elsewhere
      // All requests have one client address, whose failed authentications are counted per minute.
    }, () => shared().advance("1 minute")))
}

/** Runs the cases concurrently on a server on PGlite. */
export const runOnPglite = (sections: Sections): void => {
  const shared = sharedStage(() => ProcessStage.startPglite(inject("hostPgliteDump")))
  const run = runOn(shared)
  describe.concurrent("PGlite", () =>
    describeEach("PGlite", sections, {
      holds: run,
      inTime: elsewhere,
      onServers: run,
      onPostgres: elsewhere
    }))
}

/** Runs the cases concurrently on servers on Postgres. */
export const runOnPostgres = (sections: Sections): void => {
  const shared = sharedStage(ProcessStage.startPostgres)
  const run = runOn(shared)
  describe.concurrent("Postgres", () =>
    describeEach("Postgres", sections, {
      holds: run,
      inTime: elsewhere,
      onServers: run,
      onPostgres: (ids, test) => it(titleOf(ids), () => test(shared()), withServersMillis)
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Sections = Readonly<Record<string, Section>>

/** Such a case may start a server, and a sweep that it awaits runs once a minute. */
const withServersMillis = 600_000

/** Starts a stage before all tests of the file and stops it after them. */
const sharedStage = <A extends AsyncDisposable>(start: () => Promise<A>): () => A => {
  let stage: A | undefined
  beforeAll(async () => {
    stage = await start()
  })
  afterAll(() => stage?.[Symbol.asyncDispose]())
  return () => {
    if (stage === undefined) throw new Error("The host did not start")
    return stage
  }
}

const runOn = (stage: () => Stage) => (ids: Ids, test: (stage: Stage) => Promise<void>) =>
  it(titleOf(ids), () => test(stage()))

/** Declares the cases of each file. If all of them ran, the report is written after the last. */
const describeEach = (
  host: Host,
  sections: Sections,
  define: Define,
  beforeFile: () => Promise<void> = () => Promise.resolve()
): void => {
  const recorder = new Report.Recorder()
  let count = 0
  for (const [file, section] of Object.entries(sections)) {
    const cases = casesOf(section).filter(({ hosts }) => hosts.includes(host))
    count += cases.length
    if (cases.length === 0) continue
    describe(file, () => {
      beforeAll(beforeFile)
      afterEach(({ task }) => recorder.record(file, idsOf(task.name), task.result?.state === "pass"))
      section(define)
    })
  }
  afterAll(async () => {
    if (recorder.cases === count) await Report.write(host, recorder.result(new Date()))
  })
}

/** Ignores a case that runs on another host. */
const elsewhere = () => {}

const listOf = (ids: Ids): ReadonlyArray<RequirementId> => typeof ids === "string" ? [ids] : ids

/** The ids, by which the report and `-t` find the case, and the statements that it proves. */
const titleOf = (ids: Ids): string => {
  const list = listOf(ids)
  return `${list.join(", ")}: ${list.map((id) => texts.get(id)).join(" · ")}`
}

const idsOf = (title: string): ReadonlyArray<RequirementId> =>
  title.slice(0, title.indexOf(": ")).split(", ").filter((id): id is RequirementId => texts.has(id as RequirementId))
