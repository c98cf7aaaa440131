/** The limits of `Webhooks`, with their defaults. */
import { Duration } from "effect"
import type { WebhooksOptions } from "../Webhooks.ts"

export interface Limits {
  readonly endpointsMax: number
  readonly typesMax: number
  readonly overlapMax: Duration.Duration
  readonly secretsMax: number
  readonly dataBytesMax: number
  readonly sendsKept: number
  readonly keepFor: Duration.Duration
  readonly pendingMax: Duration.Duration
}

export const of = ({
  dataBytesMax = 1024 ** 2,
  endpointsMax = 5,
  keepFor = "7 days",
  overlapMax = "24 hours",
  pendingMax = "3 days",
  secretsMax = 5,
  sendsKept = 20,
  typesMax = 32
}: WebhooksOptions): Limits => ({
  endpointsMax,
  typesMax,
  overlapMax: Duration.fromInputUnsafe(overlapMax),
  secretsMax,
  dataBytesMax,
  sendsKept,
  keepFor: Duration.fromInputUnsafe(keepFor),
  pendingMax: Duration.fromInputUnsafe(pendingMax)
})
