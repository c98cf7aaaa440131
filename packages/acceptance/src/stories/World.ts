/** The accounts, hosts and clients of a story. */
import { Accounts, KeyBudget } from "@kinora/accounts"
import { AccountId } from "@kinora/accounts/Account"
import type { KeyId } from "@kinora/accounts/ApiKey"
import { Generations, Uploads } from "@kinora/generations"
import type { GenerationId } from "@kinora/generations/Generation"
import { VirtualTime } from "@kinora/host-test/VirtualTime"
import { Fingerprint } from "@kinora/idempotency"
import * as Faults from "@kinora/testkit/Faults"
import { Webhooks } from "@kinora/webhooks"
import { Effect, Exit, Option, type Scope } from "effect"
import * as Books from "../Books.ts"
import type { Backend, Database } from "./Backend.ts"
import * as Files from "./Files.ts"
import * as Hosts from "./Hosts.ts"
import { nameOf } from "./nameOf.ts"
import { accountsMax, type Step, type Story } from "./Story.ts"
import * as StoryHost from "./StoryHost.ts"
import * as Surroundings from "./Surroundings.ts"

/** A request of a client, which it repeats until it has a final response. */
export interface Request {
  readonly account: string
  readonly key: number
  /** The API key with a budget that it is sent with, if it is sent with that one. */
  readonly line: KeyId | undefined
  /** The skews of the hosts that got it before a response contained its job, one of which created the job. */
  readonly skews: Set<number>
  /** Jobs that responses contained. More than one is a defect of the product. */
  readonly jobs: Set<GenerationId>
  /** Names of other responses, oldest first. */
  readonly refusals: Array<string>
  /** The upload that it names, once a response contained one. */
  upload: string | undefined
}

/** A story in progress. */
export interface World {
  readonly accounts: ReadonlyArray<string>
  /** The API key with a budget of each account. */
  readonly lines: ReadonlyMap<string, KeyId>
  readonly database: Database
  readonly surroundings: Surroundings.Surroundings
  /** Whether the database and the files refuse writes. */
  readonly condition: Faults.Condition
  readonly requests: () => ReadonlyArray<Request>
  /** Promises that a client found broken. */
  readonly problems: ReadonlyArray<string>
  /** Number of polls and downloads that failed. */
  readonly failedReads: () => number
  /** Takes a step. Calls of clients run in the background. */
  readonly take: (step: Step) => Effect.Effect<void>
  /** Sends the request again and waits for the response. */
  readonly repeat: (host: StoryHost.StoryHost, request: Request) => Effect.Effect<void>
  readonly hosts: Hosts.Hosts
}

/** Credits of each account, which pay for 4 of its 6 possible jobs with credits. */
export const credits = 32

/** Returns the plan group that pays for the job of a request: 2 of the 8 possible jobs of an account count to its quota. */
export const planOf = (key: number): "credits" | "studio" => key < 6 ? "credits" : "studio"

/** The budget of one API key of each account: 2 of its 4 possible jobs per day, and 3 per month. */
export const budget: KeyBudget.KeyBudget = {
  ...KeyBudget.unlimited,
  jobsPerDay: Option.some(2),
  creditsPerMonth: Option.some(24)
}

/** Opens the accounts of a story and starts its first host. */
export const make = Effect.fnUntraced(function*(
  story: Story,
  backend: Backend
): Effect.fn.Return<World, unknown, Scope.Scope | VirtualTime> {
  const time = yield* VirtualTime
  const database = yield* backend.open(time.still)
  const surroundings = yield* Surroundings.make(1)
  const condition = Faults.working()
  const hosts = yield* Hosts.make({ condition, database, surroundings, skews: story.skews })
  const requests = new Map<string, Request>()
  yield* hosts.start(0)
  yield* hosts.start(1)
  const opened = yield* hosts.running(0)!.call(openAccounts)

  const accounts = Array.from(opened.keys())
  const { call, callLater, requestOf } = makeClients(hosts, requests, accounts, opened)
  const refuse = yield* makeRefuse(condition)
  const reads = makeReads(callLater)

  const take = Effect.fnUntraced(function*(step: Step): Effect.fn.Return<void> {
    switch (step._tag) {
      case "create":
        return yield* Effect.forEach(
          step.keys,
          (key) => call(step.host, (host) => send(host, requestOf(step.account, key))),
          { discard: true }
        )
      case "cancel":
        return yield* callLater(
          step,
          (account, job) => Generations.Generations.use(({ cancel }) => cancel(account, job))
        )
      case "poll":
        return yield* reads.poll(step)
      case "download":
        return yield* reads.download(step)
      case "refuse":
        return yield* refuse(step)
      case "pass":
        return yield* time.advance(step.millis)
      case "start":
        return yield* hosts.start(step.place)
      case "stop":
      case "kill":
        return yield* hosts.end(step.host, step._tag)
      case "fault":
        return hosts.running(step.host)?.faults.plan(step)
      case "reject":
        return surroundings.reject(step.sends)
    }
  })

  return {
    accounts,
    lines: opened,
    database,
    surroundings,
    condition,
    problems: reads.problems,
    failedReads: reads.failed,
    requests: () => Array.from(requests.values()),
    take,
    repeat: (host, request) => host.call(send(host, request)),
    hosts
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes the function that makes a store refuse writes for some time. */
const makeRefuse = (condition: Faults.Condition) =>
  Effect.map(Effect.scope, (scope) => {
    const steps = new Map<keyof Faults.Condition, Extract<Step, { readonly _tag: "refuse" }>>()
    return (step: Extract<Step, { readonly _tag: "refuse" }>) => {
      const { kind, millis, store } = step
      condition[store] = kind
      steps.set(store, step)
      const end = Effect.sync(() => {
        // A later step of the store ends its own condition.
        if (steps.get(store) === step) condition[store] = undefined
      })
      return Effect.asVoid(Effect.forkIn(Effect.andThen(Effect.sleep(millis), end), scope))
    }
  })

/** Makes the calls of clients. */
const makeClients = (
  hosts: Hosts.Hosts,
  requests: Map<string, Request>,
  accounts: ReadonlyArray<string>,
  lines: World["lines"]
) => {
  const requestOf = (index: number, key: number): Request => {
    const account = accounts[index] ?? ""
    const name = `${account} ${key}`
    const line = key < 4 ? lines.get(account) : undefined
    const request = requests.get(name) ??
      { account, key, line, skews: new Set(), jobs: new Set(), refusals: [], upload: undefined }
    requests.set(name, request)
    return request
  }

  /** Runs a call of a client in the background. The host's end interrupts it. */
  const call = (
    pick: number,
    callOf: (host: StoryHost.StoryHost) => Effect.Effect<void, never, StoryHost.HostServices>
  ) => {
    const host = hosts.running(pick)
    return host === undefined ? Effect.void : Effect.asVoid(Effect.forkIn(host.call(callOf(host)), host.scope))
  }
  /** Runs a call about the job of an earlier request. Its failure is a response like another. */
  const callLater = (
    { host, pick }: { readonly host: number; readonly pick: number },
    use: (account: string, job: GenerationId) => Effect.Effect<unknown, unknown, StoryHost.HostServices>
  ) => {
    const later = Effect.suspend(() => {
      const request = Array.from(requests.values())[pick % Math.max(1, requests.size)]
      const [job] = request?.jobs ?? []
      return request === undefined || job === undefined ? Effect.void : Effect.exit(use(request.account, job))
    })
    // The client has the response to the request first.
    return call(host, () => Effect.asVoid(Effect.andThen(Effect.sleep("5 millis"), later)))
  }

  return { call, callLater, requestOf }
}

/** Makes the reads of clients, which count their failures. */
const makeReads = (callLater: ReturnType<typeof makeClients>["callLater"]) => {
  const problems: Array<string> = []
  let failures = 0
  const counted = <A, E, R>(read: Effect.Effect<A, E, R>) =>
    Effect.tapError(read, () =>
      Effect.sync(() => {
        failures++
      }))
  type Later = Parameters<typeof callLater>[0]
  return {
    problems,
    failed: () => failures,
    poll: (step: Later) =>
      callLater(
        step,
        (account, job) => counted(Generations.Generations.use(({ wait }) => wait(account, job, "2 seconds")))
      ),
    download: (step: Later) =>
      callLater(
        step,
        (account, job) => Effect.map(counted(Files.download(account, job)), (found) => void problems.push(...found))
      )
  }
}

/** Opens accounts whose webhooks are all received, each with an API key that has a budget. Returns these keys. */
const openAccounts = Effect.gen(function*() {
  const { createKey } = yield* Accounts.Accounts
  const webhooks = yield* Webhooks.Webhooks
  const opened = yield* Effect.forEach(Array.from({ length: accountsMax }), () =>
    Effect.gen(function*() {
      const { id } = yield* Books.openAccount({ credits })
      yield* webhooks.create(id, { url: "https://receiver.example/hooks" })
      const { record } = yield* createKey(accountOf(id), "limited", {}, budget)
      return [id, record.line] as const
    }))
  return new Map<string, KeyId>(opened)
})

const accountOf = (text: string): AccountId => Option.getOrThrow(Option.fromUndefinedOr(AccountId.parse(text)))

/** Sends a request and records the response. */
const send = Effect.fnUntraced(function*({ skew }: StoryHost.StoryHost, request: Request) {
  if (request.jobs.size === 0) request.skews.add(skew)
  const exit = yield* Effect.exit(create(request))
  if (Exit.isSuccess(exit)) request.jobs.add(exit.value)
  else request.refusals.push(nameOf(exit))
})

const create = Effect.fnUntraced(function*(request: Request) {
  const { account: text, key } = request
  const accounts = yield* Accounts.Accounts
  const generations = yield* Generations.Generations
  const account = yield* accounts.get(accountOf(text))
  const plan = planOf(key)
  const params = { prompt: Surroundings.promptOf(key), ...yield* imagesOf(request) }
  const identity = {
    scope: `create:${text}`,
    key: `key ${key}`,
    endpoint: "generations",
    fingerprint: yield* Fingerprint.make({ plan, model: StoryHost.model.id, params })
  }
  const { generation } = yield* generations.create({
    account,
    plan,
    model: StoryHost.model.id,
    params,
    identity,
    ...request.line === undefined ? {} : { key: request.line, budgetLine: request.line }
  })
  return generation.id
})

/** A third of the requests send an image, and a third name an upload. A client without the response uploads again. */
const imagesOf = Effect.fnUntraced(function*(request: Request) {
  switch (request.key % 3) {
    case 0:
      return { images: [{ data: Files.png }] }
    case 1: {
      const uploads = yield* Uploads.Uploads
      if (request.upload === undefined) {
        const { id } = yield* uploads.create(request.account, Files.pngBytes, "image/png")
        // The same request may have been sent twice at once.
        request.upload ??= id
      }
      return { images: [{ upload_id: request.upload }] }
    }
    default:
      return {}
  }
})
