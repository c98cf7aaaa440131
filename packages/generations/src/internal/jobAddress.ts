/** Address and kind of a generation's job in the scheduler. */
import { JobKind } from "@kinora/scheduler"
import type { JobAddress } from "@kinora/scheduler/Job"
import { Option, Schema } from "effect"
import { GenerationId, Plan } from "../Generation.ts"
import type { Subject } from "../GenerationStore.ts"

/** Job kind of generations, without a pool: the jobs that releases before pools enqueued. The payload holds the id only; the generation's row has everything else. */
export const generationKind = JobKind.make({
  name: "generation",
  payload: Schema.Struct({ id: GenerationId.schema })
})

/** Job kind of a model's generations. Each model is a pool, so that only workers that run the model claim them. */
export const kindOf = (model: string): typeof generationKind => JobKind.pool(generationKind, model)

/** Inverse of `kindOf`, for the name of a kind. Returns an empty text for a job without a pool. */
export const modelOf = (kind: string): string => Option.getOrElse(JobKind.poolOf(kind), () => "")

/** Each account has a lane per plan group. The account is the lane group, so the limit on pending jobs spans both lanes. */
export const addressOf = (subject: Subject): JobAddress => ({
  job: GenerationId.toUuid(subject.id),
  ...laneOf(subject)
})

/** The lane of an account in a plan group. */
export const laneOf = ({ account, plan }: Pick<Subject, "account" | "plan">): Omit<JobAddress, "job"> => ({
  lane: `${account}/${plan}`,
  group: account
})

/** The plan group of a lane. Returns `none` if the lane does not belong to generations. */
export const planOf = ({ group, lane }: Omit<JobAddress, "job">): Option.Option<Plan> =>
  Schema.decodeUnknownOption(Plan)(lane.slice(group.length + 1))

/** Inverse of `addressOf`. Returns `none` if the lane does not belong to a generation. */
export const parseSubject = ({ group, job, lane }: JobAddress): Option.Option<Subject> =>
  Option.map(planOf({ group, lane }), (plan) => ({ id: GenerationId.fromUuid(job), account: group, plan }))

/** `parseSubject` for a claimed job of `generationKind`, whose lane `addressOf` made. */
export const subjectOf = (job: JobAddress): Subject => Option.getOrThrow(parseSubject(job))
