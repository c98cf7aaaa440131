/**
 * What the interface promises, sentence by sentence, and of the decisions those that
 * are visible from outside. Each has an id, by which a test says what it holds.
 */
import * as decisions from "./requirements/decisions.ts"
import * as edges from "./requirements/edges.ts"
import * as endpoints from "./requirements/endpoints.ts"
import * as resources from "./requirements/resources.ts"
import * as webhooks from "./requirements/webhooks.ts"

/** The sentences by section, in the order of the interface and then of the decisions. */
export const sections = {
  "What the service does": resources.service,
  "Generation (the job object)": resources.job,
  "CreateGenerationRequest": resources.createRequest,
  "Image request and response": resources.imageRequest,
  "Model": resources.model,
  "Account": resources.account,
  "Usage report": resources.usage,
  "Error envelope": resources.envelope,
  "States and transitions": endpoints.states,
  "POST /v1/generations": endpoints.create,
  "GET /v1/generations/{id}": endpoints.get,
  "POST /v1/generations/{id}/cancel": endpoints.cancel,
  "GET and HEAD /v1/generations/{id}/content": endpoints.content,
  "POST /v1/images/generations": endpoints.images,
  "GET /v1/models, /v1/account, /v1/usage": endpoints.reads,
  "Authentication": endpoints.authentication,
  "Events": webhooks.events,
  "Events: Body": webhooks.body,
  "Events: Headers": webhooks.headers,
  "Events: Signature": webhooks.signature,
  "Events: Endpoint requirements": webhooks.endpoints,
  "Events: Delivery schedule": webhooks.schedule,
  "Events, as other sections name them": webhooks.elsewhere,
  "Errors": endpoints.errors,
  "Limits": endpoints.limits,
  "Versioning": endpoints.versioning,
  "Names and formats (D2 to D5)": decisions.names,
  "Job states (D6 to D12)": decisions.jobStates,
  "Creating (D13 to D19)": decisions.creating,
  "Image endpoint (D20)": decisions.imageEndpoint,
  "Ledger (D21 to D25)": decisions.ledger,
  "Limits and headers (D26 to D30)": edges.headers,
  "Content (D31 to D35)": edges.downloads,
  "Reads (D36 to D39)": edges.reading,
  "Statuses and codes (D40)": edges.codes,
  "Messages and the envelope (D41, D42)": edges.messages,
  "Events of job states (D2, D7, D8)": webhooks.states,
  "Webhooks (D43 to D48)": webhooks.decisions,
  "Operating (D49)": edges.operating,
  "Operator interface (D50)": webhooks.operating
} as const

type Sections = typeof sections
/** The id of a sentence. */
export type RequirementId = { [Section in keyof Sections]: keyof Sections[Section] }[keyof Sections]

/** A sentence and where it stands. */
export interface Requirement {
  readonly id: RequirementId
  readonly section: string
  readonly text: string
}

/** All sentences, in the order of `sections`. */
export const all: ReadonlyArray<Requirement> = Object.entries(sections).flatMap(([section, sentences]) =>
  // `Object.entries` forgets the names of the keys.
  (Object.entries(sentences) as ReadonlyArray<[RequirementId, string]>).map(([id, text]) => ({ id, section, text }))
)

/** The text of each sentence. */
export const texts: ReadonlyMap<RequirementId, string> = new Map(all.map(({ id, text }) => [id, text]))
