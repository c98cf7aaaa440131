/** Decides an enqueue command. Pure. */
import type { Decision } from "@kinora/persistence/Decision"
import type { Schema } from "effect"
import type { JobAddress } from "../Job.ts"
import * as Lanes from "../Lanes.ts"
import type { DuplicateJob, InvalidJobId, InvalidPriority, QueueFull } from "../SchedulerError.ts"
import { dueOf } from "./delays.ts"
import type { Delay, Enqueue } from "./requests.ts"

/** A command with its payload as JSON. */
export type AnyEnqueue = Enqueue<Schema.Json> & Delay

/** A job, and where it was placed. */
export type Placed = JobAddress & { readonly state: "delayed" | "pending" | "queued" }

/** Enqueues a job, or delays it if the command has a delay. */
export const decideEnqueue = (
  lanes: Lanes.Lanes,
  command: AnyEnqueue
): Decision<Lanes.Lanes, Placed, QueueFull | DuplicateJob | InvalidJobId | InvalidPriority> =>
  dueOf(command) === undefined ? Lanes.enqueue(lanes, command) : Lanes.delay(lanes, command)
