/** Where a generation stands in the scheduler. */
import { JobKind } from "@kinora/scheduler"
import type { JobAddress } from "@kinora/scheduler/Job"
import { Schema } from "effect"
import { GenerationId, Plan } from "../Generation.ts"
import type { Subject } from "../GenerationStore.ts"

/** A generation's job names it and nothing more: its row says the rest. */
export const generationKind = JobKind.make({
  name: "generation",
  payload: Schema.Struct({ id: GenerationId.schema })
})

/** Each account has a lane for each plan group; the limit on waiting jobs is over both (D7). */
export const addressOf = ({ account, id, plan }: Subject): JobAddress => ({
  job: GenerationId.toUuid(id),
  lane: `${account}/${plan}`,
  group: account
})

/** The generation of a job: what `addressOf` made of it, back again. */
export const subjectOf = ({ group, job, lane }: JobAddress): Subject => ({
  id: GenerationId.fromUuid(job),
  account: group,
  plan: Schema.decodeUnknownSync(Plan)(lane.slice(group.length + 1))
})
