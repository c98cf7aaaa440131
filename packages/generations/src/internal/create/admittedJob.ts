/** The stage between a create command and its generation. */
import type { Claim, Request } from "@kinora/idempotency/Claim"
import { DateTime, type Duration } from "effect"
import type { CreateCommand, RequestIdentity } from "../../CreateCommand.ts"
import type { Generation, GenerationId } from "../../Generation.ts"
import { requestLimit } from "../images/imageIngest.ts"
import type { JobTerms } from "./admission.ts"
import type { Input } from "./inputImages.ts"

/** A validated create command and the generation to insert for it. */
export interface AdmittedJob {
  readonly claim: Claim
  readonly terms: JobTerms
  /** The row to insert, except for its status, which depends on the free slots, its watermark, which depends on the lots that pay, and its `keyLine`. */
  readonly generation: Generation
  /** Line of the API key against whose budget the job counts. */
  readonly budgetLine: CreateCommand["budgetLine"]
  /** Input images, stored but not yet bound to the job. */
  readonly inputs: ReadonlyArray<Input>
  /** Until when a worker may read the input images. */
  readonly inputsKeptUntil: DateTime.Utc
}

/** Arguments of `make`. */
export interface AdmittedJobParts {
  readonly command: CreateCommand
  readonly terms: JobTerms
  readonly inputs: ReadonlyArray<Input>
  readonly id: GenerationId
  readonly at: DateTime.Utc
  /** How long a job may wait before it starts. */
  readonly queueLimit: Duration.Input
}

/** Makes an admitted job. */
export const make = ({ at, command, id, inputs, queueLimit, terms }: AdmittedJobParts): AdmittedJob => ({
  claim: { ...requestOf(command.identity), reference: id },
  terms,
  budgetLine: command.budgetLine,
  inputs,
  // The longest wait and the longest run, plus a margin for sweeps and clock differences.
  inputsKeptUntil: at.pipe(
    DateTime.addDuration(queueLimit),
    DateTime.addDuration(terms.timeLimit),
    DateTime.addDuration(requestLimit)
  ),
  generation: {
    id,
    account: command.account.id,
    key: command.key ?? null,
    model: terms.model,
    kind: terms.resolved.kind,
    mode: terms.resolved.mode,
    plan: command.plan,
    status: "pending",
    prompt: terms.resolved.prompt,
    params: terms.resolved.params,
    images: inputs.map(({ image }) => image),
    costCredits: terms.amount._tag === "Credits" ? terms.amount.credits : null,
    quotaKind: terms.amount._tag === "Quota" ? terms.resolved.kind : null,
    watermark: false,
    refunded: false,
    failure: null,
    output: null,
    resultExpiresAt: null,
    createdAt: at,
    startedAt: null,
    finishedAt: null
  }
})

/** Returns the idempotency request of a client's request. */
export const requestOf = ({ endpoint, fingerprint, key, scope }: RequestIdentity): Request => ({
  scope,
  key: key === undefined ? { _tag: "Implicit", endpoint } : { _tag: "Explicit", text: key },
  fingerprint
})
