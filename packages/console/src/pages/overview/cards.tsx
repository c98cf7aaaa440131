/** Cards of the account: plans, credits, queue, downloads. */
import { useQuery } from "@tanstack/react-query"
import { summaryQuery } from "../../api/queries.ts"
import type { Account } from "../../api/types.ts"
import { Badge, Meter } from "../../components/Badge.tsx"
import { LinkButton } from "../../components/Button.tsx"
import { Card, Facts } from "../../components/Card.tsx"
import { names } from "../../components/names.ts"
import { Time } from "../../components/Time.tsx"
import { useNow } from "../../components/useNow.ts"
import { bytes, count, money, plural } from "../../format/number.ts"
import { capital, lotNames } from "../../format/text.ts"
import { date, day } from "../../format/time.ts"

interface AccountProps {
  readonly account: Account
}

const tierName = (tier: string | null) => tier === null ? null : capital(tier)

/** The Studio plan: what is left today, and its renewal. */
export const StudioCard = ({ account: { balance_usd_cents, plans: { studio } } }: AccountProps) => (
  <Card
    title="Studio"
    titleAside={studio.active ? <Badge tone="positive">{tierName(studio.tier)}</Badge> : <Badge>No plan</Badge>}
  >
    {studio.quota === null
      ? <p className="text-muted">The account has no active Studio plan. Jobs use credits.</p>
      : (
        <div className="space-y-4">
          <Quota name="Images today" {...studio.quota.image} />
          <Quota name="Videos today" {...studio.quota.video} />
          <p className="text-xs text-muted">
            Resets <Time at={studio.quota.resets_at} /> (00:00 UTC).
            {studio.period_end !== null && (
              <>
                {" "}
                {studio.auto_renew
                  ? `Renews on ${date(studio.period_end)} from the balance of ${money(balance_usd_cents)}.`
                  : `Ends on ${date(studio.period_end)}.`}
              </>
            )}
          </p>
        </div>
      )}
  </Card>
)

/** Spendable credits, and the lots in the order in which jobs use them. */
export const CreditsCard = ({ account: { plans: { credits } } }: AccountProps) => (
  <Card title="Credits" actions={<LinkButton to="/plans" size="sm" variant="ghost">Statement</LinkButton>}>
    <p className="text-2xl font-semibold tracking-tight tabular-nums">{count(credits.credits_remaining)}</p>
    <Lots lots={credits.lots ?? []} />
  </Card>
)

/** Lots with what remains of each. */
export const Lots = ({ lots }: { readonly lots: NonNullable<Account["plans"]["credits"]["lots"]> }) => {
  const now = useNow(60_000)
  if (lots.length === 0) return <p className="text-muted">No credits.</p>
  return (
    <ul className="mt-3 divide-y divide-line border-t border-line text-sm">
      {lots.map((lot, index) => (
        <li key={index} className="flex items-baseline justify-between gap-3 py-2 last:pb-0">
          <span className="min-w-0">
            <span className="font-medium">{lotNames[lot.kind]}</span>
            {lot.images_only && <span className="text-muted">, images only</span>}
            {lot.watermark && <span className="text-muted">, not used by API jobs</span>}
            <span
              className={names(
                "block text-xs",
                Date.parse(lot.expires_at) - now < 7 * day ? "font-medium text-warning" : "text-muted"
              )}
            >
              Expires <Time at={lot.expires_at} />
            </span>
          </span>
          <span className={names("tabular-nums", lot.watermark ? "text-muted" : "font-medium")}>
            {count(lot.remaining)}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** Running jobs of each plan group, and those that wait. */
export const QueueCard = ({ account: { plans } }: AccountProps) => {
  const { data } = useQuery(summaryQuery)
  const line = (plan: "studio" | "credits") => {
    const lane = data?.plans[plan]
    return lane === undefined
      ? `up to ${plural(plans[plan].concurrency, "job")} at once`
      : `${lane.running} of ${plans[plan].concurrency} running${lane.waiting === 0 ? "" : `, ${lane.waiting} waiting`}`
  }
  return (
    <Card title="Queue">
      <Facts facts={[["Studio", line("studio")], ["Credits", line("credits")]]} />
    </Card>
  )
}

/** Downloads of the day. */
export const DownloadsCard = ({ account: { results: { api_ttl_hours, download } } }: AccountProps) => {
  const limit = download.user_gib_per_day * 1024 ** 3
  return (
    <Card title="Downloads">
      <div className="space-y-2">
        <div className="flex justify-between text-sm">
          <span className="text-muted">Today</span>
          <span className="tabular-nums">
            {download.used_bytes_today === null ? "unknown" : bytes(download.used_bytes_today)} of {bytes(limit)}
          </span>
        </div>
        <Meter label="Downloads today" value={download.used_bytes_today ?? 0} max={limit} />
        <p className="text-xs text-muted">Results are available for {api_ttl_hours} h.</p>
      </div>
    </Card>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Quota = ({ limit, name, used }: { readonly name: string; readonly limit: number; readonly used: number }) => (
  <div className="space-y-1.5">
    <div className="flex justify-between text-sm">
      <span className="text-muted">{name}</span>
      <span className="font-medium tabular-nums">{count(used)} of {count(limit)}</span>
    </div>
    <Meter label={name} value={used} max={limit} />
  </div>
)
