/** The status of deliveries of webhook events. */
import type { Delivery } from "../api/types.ts"
import { capital } from "../format/text.ts"
import { Badge } from "./Badge.tsx"

const tones = { delivered: "positive", pending: "accent", failed: "danger" } as const

/** The status of a delivery as a badge. */
export const DeliveryStatus = ({ status }: Pick<Delivery, "status">) => (
  <Badge tone={tones[status]}>{capital(status)}</Badge>
)
