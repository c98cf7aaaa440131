/** Where a generation stands in the scheduler. */
import { JobKind } from "@kinora/scheduler"
import type { JobAddress } from "@kinora/scheduler/Job"
import { Option, Schema } from "effect"
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

/** The generation of a job: what `addressOf` made of it, back again. `none`: the lane is none of ours. */
export const parseSubject = ({ group, job, lane }: JobAddress): Option.Option<Subject> =>
  Option.map(
    Schema.decodeUnknownOption(Plan)(lane.slice(group.length + 1)),
    (plan) => ({ id: GenerationId.fromUuid(job), account: group, plan })
  )

/** `parseSubject` of a job that was claimed, whose lane is always ours. */
export const subjectOf = (job: JobAddress): Subject => Option.getOrThrow(parseSubject(job))
