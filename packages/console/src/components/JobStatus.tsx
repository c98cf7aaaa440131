/** The status of jobs, in words and colors. */
import type { Generation } from "../api/types.ts"
import { Badge, type Tone } from "./Badge.tsx"

const statuses: Readonly<Record<Generation["status"], { readonly label: string; readonly tone: Tone }>> = {
  pending: { label: "Waiting for a slot", tone: "warning" },
  queued: { label: "Queued", tone: "accent" },
  processing: { label: "Generating", tone: "accent" },
  completed: { label: "Completed", tone: "positive" },
  failed: { label: "Failed", tone: "danger" },
  cancelled: { label: "Cancelled", tone: "neutral" }
}

/** The statuses and their names, for filters. */
export const statusOptions: ReadonlyArray<readonly [Generation["status"], string]> = [
  ["pending", "Waiting for a slot"],
  ["queued", "Queued"],
  ["processing", "Generating"],
  ["completed", "Completed"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"]
]

/** The status of a job as a badge. */
export const JobStatus = ({ status }: { readonly status: Generation["status"] }) => (
  <Badge tone={statuses[status].tone}>{statuses[status].label}</Badge>
)

/** The name of a plan group. */
export const planName = (plan: Generation["plan"]): string => plan === "studio" ? "Studio" : "Credits"

/** The price of a job: its credits, or one of the daily quota. */
export const costOf = ({ cost_credits, kind }: Pick<Generation, "cost_credits" | "kind">): string =>
  cost_credits === null ? `1 Studio ${kind}` : `${cost_credits} credit${cost_credits === 1 ? "" : "s"}`
