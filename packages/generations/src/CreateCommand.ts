/** Command to create a generation, and its result. */
import type { Account } from "@kinora/accounts/Account"
import type { KeyId } from "@kinora/accounts/ApiKey"
import type { Fingerprint } from "@kinora/idempotency/Fingerprint"
import { Context, type Effect, type Schema } from "effect"
import type { Generation, Plan } from "./Generation.ts"

/** Identity of a client's request. Two requests with the same identity create one generation. */
export interface RequestIdentity {
  /** Namespace of the key: the account and the endpoints that share keys. */
  readonly scope: string
  /** Idempotency key of the client. If `undefined`, requests match within a short window per endpoint. */
  readonly key: string | undefined
  /** Endpoint that received the request. Requests without a key match at the same endpoint only. */
  readonly endpoint: string
  /** Fingerprint of the parsed body. */
  readonly fingerprint: Fingerprint
}

/** Command to create a generation. */
export interface CreateCommand {
  readonly account: Account
  /** Id of the API key of the request, which the generation and the usage have. Default: none. */
  readonly key?: string | undefined
  readonly plan: Plan
  /** Id or alias of the model. The generation has the id. */
  readonly model: string
  /** Parameters as the client sent them. `create` validates them against the model. */
  readonly params: Readonly<Record<string, Schema.Json>>
  readonly identity: RequestIdentity
  /** Line of the API key of the request, if it has a budget. The job counts against the budget that the line has when it is created. */
  readonly budgetLine?: KeyId | undefined
  /** Whether trial credits may pay. The files of a job that they pay for carry a watermark. Default false. */
  readonly trialAllowed?: boolean | undefined
}

/** Result of a create command. */
export interface Created {
  readonly generation: Generation
  /** `true` if an earlier request with the same identity created the generation. */
  readonly replayed: boolean
}

/**
 * Runs the slow steps of `Generations.create`, before its unit of work: storing the input
 * images, and the moderation. Provide it to bound or to measure a call without them.
 * Default: runs them as they are.
 */
export const Preparation = Context.Reference<{
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>("@kinora/generations/CreateCommand/Preparation", { defaultValue: () => ({ run: (effect) => effect }) })
