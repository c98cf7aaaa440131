/** The end of a story: faults stop, everything that began has to end, and the books have to be right. */
import { KeySpending } from "@kinora/accounts"
import { AccountStore } from "@kinora/accounts/AccountStore"
import { Generations, GenerationSweep } from "@kinora/generations"
import { type Generation, type GenerationId, isFinal } from "@kinora/generations/Generation"
import { GenerationStore } from "@kinora/generations/GenerationStore"
import { VirtualTime } from "@kinora/host-test/VirtualTime"
import { Ledger } from "@kinora/ledger"
import { LedgerStore } from "@kinora/ledger/LedgerStore"
import * as Faults from "@kinora/testkit/Faults"
import { DateTime, Effect, Fiber, Option } from "effect"
import * as Books from "../Books.ts"
import * as Files from "./Files.ts"
import * as Quotas from "./Quotas.ts"
import type { StoryHost } from "./StoryHost.ts"
import { budget, credits, planOf, type Request, type World } from "./World.ts"

/** Maximum numbers of running and queued jobs of an account: those of its plans. */
const caps = { credits: 4, studio: 2 } as const
/** Sends of a delivery. */
const sendsMax = 4
/** More transactions than an account of a story has. */
const transactionsMax = 1_000

/** Returns a problem for each account that runs more jobs than its plans permit or exceeds its quota, or whose API key exceeds its budget. */
export const checkLimits = (world: World) =>
  Effect.map(Effect.all([checkPlans(world), checkBudgets(world)]), (problems) => problems.flat())

const checkPlans = Effect.fnUntraced(function*({ accounts, database }: World) {
  const [{ list }, { findTransactions }] = yield* Effect.provide(
    Effect.all([GenerationStore, LedgerStore]),
    database.all
  )
  const problems = yield* Effect.forEach(accounts, (account) =>
    Effect.gen(function*() {
      const generations = yield* list(account, { limit: 100 })
      const every = { account, reference: undefined, before: undefined, limit: transactionsMax }
      return [...problemsOfCaps(generations), ...Quotas.problemsOfLimit(yield* findTransactions(every))]
    }))
  return problems.flat()
})

const problemsOfCaps = (generations: ReadonlyArray<Generation>) =>
  (["credits", "studio"] as const).flatMap((plan) => {
    const held = generations.filter((job) =>
      job.plan === plan && (job.status === "queued" || job.status === "processing")
    ).length
    return held > caps[plan]
      ? [`${held} jobs of one account are queued or run with ${plan}; its plan permits ${caps[plan]}`]
      : []
  })

/** The same in the middle of a story. Looks another time if a unit of work that hangs holds the memory. */
export const checkLimitsNow = Effect.fnUntraced(function*(world: World) {
  const { rest } = yield* VirtualTime
  const checking = yield* Effect.forkChild(checkLimits(world), { startImmediately: true })
  yield* rest
  if (checking.pollUnsafe() !== undefined) return yield* Fiber.join(checking)
  yield* Fiber.interrupt(checking)
  return []
})

/** How a story ended. */
export interface Ended {
  /** Every promise that does not hold. */
  readonly problems: ReadonlyArray<string>
  /** Final statuses of its jobs. */
  readonly statuses: ReadonlyArray<string>
}

/** Ends a story and checks it. */
export const run = Effect.fnUntraced(function*(world: World) {
  const time = yield* VirtualTime
  world.surroundings.reject(0)
  Object.assign(world.condition, Faults.working())
  yield* world.hosts.stopAll
  const host = yield* world.hosts.startOther(0)
  yield* repeatAll(world, host)
  const isDone = Effect.flatMap(
    checkJobs(world, host),
    (problems) => Effect.map(checkWebhooks(world, host), (others) => problems.length + others.length === 0)
  )
  // A delivery has sends for six minutes, and a job that lost its worker three times runs alone.
  for (let seconds = 0; seconds < 900 && !(yield* isDone); seconds += 5) yield* time.advance("5 seconds")
  const problems = [
    ...yield* checkJobs(world, host),
    ...yield* checkWebhooks(world, host),
    ...yield* checkBooks(world, host),
    ...yield* checkSpending(world, host),
    ...yield* checkLimits(world)
  ]
  const statuses = (yield* jobsOf(world, host)).map(({ status }) => status)
  const ended: Ended = {
    statuses,
    problems: [...problems, ...problems.length > 0 ? [] : yield* checkFiles(world, host)]
  }
  return ended
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The API keys with a budget and what they have spent, from the first month of the story on. */
const linesOf = Effect.fnUntraced(function*({ database, lines }: World) {
  const { findLines } = yield* Effect.provide(AccountStore, database.all)
  return yield* findLines(Array.from(lines.values()), firstMonth)
})

const firstMonth = "2030-01-01"

const checkBudgets = Effect.fnUntraced(function*(world: World) {
  const { creditsPerMonth, jobsPerDay } = budget
  const lines = yield* linesOf(world)
  return lines.flatMap(({ spending }) => {
    const uses = Array.from(spending)
    const months = Object.groupBy(uses, ([day]) => KeySpending.monthStartOf(day))
    const ofMonths = Object.values(months).map((days = []) => days.reduce((sum, [, { credits }]) => sum + credits, 0))
    return [
      ...uses.filter(([, { jobs }]) => Option.exists(jobsPerDay, (limit) => jobs > limit)).map(([day, { jobs }]) =>
        `an API key has ${jobs} jobs on ${day}, more than its budget`
      ),
      ...ofMonths.filter((credits) => Option.exists(creditsPerMonth, (limit) => credits > limit)).map((credits) =>
        `an API key has spent ${credits} credits in a month, more than its budget`
      )
    ]
  })
})

/** Clients repeat their requests. Each has to return one job, or a refusal if there never was a job. */
const repeatAll = (world: World, host: StoryHost) =>
  Effect.forEach(world.requests(), (request) => world.repeat(host, request), { discard: true })

const jobsOf = (world: World, host: StoryHost) =>
  host.call(Effect.gen(function*() {
    const { list } = yield* Generations.Generations
    return yield* Effect.forEach(world.accounts, (account) => list(account, { limit: 100 }))
  })).pipe(Effect.map((pages) => pages.flatMap(({ generations }) => generations)))

/** Every request has its job, no job has no request, and every job has ended. */
const checkJobs = Effect.fnUntraced(function*(world: World, host: StoryHost) {
  const jobs = yield* jobsOf(world, host)
  const requests = world.requests()
  const known = new Set(requests.flatMap((request) => Array.from(request.jobs)))
  return [
    ...requests.flatMap(problemsOf),
    ...jobs.filter(({ id }) => !known.has(id)).map(({ id }) => `no request has the job ${id}`),
    ...jobs.filter(({ status }) => !isFinal(status)).map(({ id, status }) => `the job ${id} stays ${status}`)
  ]
})

const problemsOf = ({ jobs, key, line, refusals }: Request): ReadonlyArray<string> => {
  if (jobs.size > 1) return [`key ${key} created ${jobs.size} jobs`]
  const last = refusals.at(-1)
  const strange = refusals.filter((refusal) => /^(died|StorageError failed)/.test(refusal))
  const isUnpaid = last === (planOf(key) === "studio" ? "QuotaExceeded" : "InsufficientCredits")
  const isRefused = isUnpaid || (line !== undefined && last === "KeyBudgetExceeded")
  const unanswered = jobs.size === 0 && !isRefused ? [`key ${key} ended with ${last}`] : []
  return [...strange.map((refusal) => `key ${key} ${refusal}`), ...unanswered]
}

/** The events of every job were sent until they were accepted, or as often as the schedule has sends. */
const checkWebhooks = Effect.fnUntraced(function*(world: World, host: StoryHost) {
  const { received } = world.surroundings
  const sent = (generation: string, type: string) => {
    const sends = received.filter((webhook) => webhook.generation === generation && webhook.type === type)
    return sends.some(({ isAccepted }) => isAccepted) || sends.length >= sendsMax
  }
  const jobs = yield* jobsOf(world, host)
  return jobs.flatMap((job) =>
    eventsOf(job).filter((type) => !sent(job.id, type)).map((type) => `${type} of ${job.id} was not sent`)
  )
})

const eventsOf = ({ startedAt, status }: Generation): ReadonlyArray<string> => [
  ...startedAt === null ? [] : ["generation.started"],
  ...status === "completed" || status === "failed" ? [`generation.${status}`] : []
]

/** Every job was charged once, and refunded once unless it completed. */
const checkBooks = (world: World, host: StoryHost) =>
  host.call(Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { problems } = yield* Books.verify
    const jobs = yield* jobsOf(world, host)
    const found = yield* Effect.forEach(world.accounts, (account) =>
      Effect.gen(function*() {
        const own = jobs.filter((job) => job.account === account)
        const entries = yield* ledger.entries({ account, limit: transactionsMax })
        const count = (kind: string, id: string) =>
          entries.filter((entry) => entry.kind === kind && entry.reference === id).length
        const wrong = own.filter(({ id, status }) =>
          count("charge", id) !== 1 || count("refund", id) !== (status === "completed" ? 0 : 1)
        )
        const charges = entries.filter(({ kind }) => kind === "charge").length
        const spent = own.filter(({ refunded }) => !refunded).reduce(
          (sum, { costCredits }) => sum + (costCredits ?? 0),
          0
        )
        const now = yield* DateTime.now
        const { credits: left, quotaUsed } = yield* ledger.balances(account, now)
        const used = quotaUsed.get("image") ?? 0
        return [
          ...wrong.map(({ id, status }) =>
            `${status} ${id}: charges ${count("charge", id)}, refunds ${count("refund", id)}`
          ),
          ...charges === own.length ? [] : [`${charges} charges for ${own.length} jobs`],
          ...left === credits - spent ? [] : [`${left} credits are left after ${spent} of ${credits} were spent`],
          ...Quotas.problemsOfJobs({ jobs: own, transactions: entries, skewsOf: skewsIn(world), used, now })
        ]
      }))
    return [...problems.map((problem) => JSON.stringify(problem)), ...found.flat()]
  }))

/** Returns how far the clock of the host of a job can have been ahead of the one that decides on days. */
const skewsIn = ({ database, requests }: World) => (id: GenerationId): ReadonlyArray<number> =>
  database.clock === "host"
    ? [0]
    : requests().filter(({ jobs }) => jobs.has(id)).flatMap(({ skews }) => Array.from(skews))

/** Each API key with a budget has spent what its jobs that are not refunded cost, on the days of their charges. */
const checkSpending = Effect.fnUntraced(function*(world: World, host: StoryHost) {
  const jobs = yield* jobsOf(world, host)
  const lineOf = new Map(world.requests().flatMap(({ jobs, line }) => Array.from(jobs, (id) => [id, line] as const)))
  const expected = jobs.flatMap(({ costCredits, createdAt, id, refunded }) => {
    const line = lineOf.get(id)
    return line === undefined || refunded
      ? []
      : [{ line, day: KeySpending.dayOf(createdAt), credits: costCredits ?? 0 }]
  })
  const lines = yield* linesOf(world)
  const problems = lines.flatMap(({ id, spending }) => {
    const own = expected.filter(({ line }) => line === id)
    const days = new Set([...spending.keys(), ...own.map(({ day }) => day)])
    return Array.from(days).flatMap((day) => {
      const ofDay = own.filter((job) => job.day === day)
      const credits = ofDay.reduce((sum, { credits }) => sum + credits, 0)
      const use = spending.get(day) ?? { credits: 0, jobs: 0 }
      return use.credits === credits && use.jobs === ofDay.length
        ? []
        : [
          `an API key has spent ${use.credits} credits and ${use.jobs} jobs on ${day}; its jobs cost ${credits} and are ${ofDay.length}`
        ]
    })
  })
  return lines.length === world.lines.size ? problems : [...problems, `${lines.length} budgets of API keys are left`]
})

/** Every result and image is complete, and no file is left when the download windows have ended. */
const checkFiles = Effect.fnUntraced(function*(world: World, host: StoryHost) {
  const time = yield* VirtualTime
  const broken = yield* Files.check(world.surroundings, yield* jobsOf(world, host))
  yield* Effect.forkChild(host.stop)
  yield* time.advance("3 days")
  yield* host.call(
    GenerationSweep.GenerationSweep.use(({ deleteAttemptFiles, dropImages, expireResults }) =>
      Effect.all([deleteAttemptFiles(1_000), dropImages(1_000), expireResults(1_000)])
    )
  )
  const left = yield* world.surroundings.files
  return [...broken, ...left.map((key) => `the file ${key} has no row`)]
})
