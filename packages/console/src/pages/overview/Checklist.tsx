/** The first steps, until the first job is done. */
import { useQuery } from "@tanstack/react-query"
import { endpointsQuery, keysQuery } from "../../api/manage.ts"
import { recentQuery } from "../../api/queries.ts"
import { LinkButton } from "../../components/Button.tsx"
import { Card } from "../../components/Card.tsx"
import { CodeCard } from "../../components/Code.tsx"
import { Icon } from "../../components/Icon.tsx"
import { names } from "../../components/names.ts"

/** The steps with ticks. Disappears after the first job. */
export const Checklist = ({ canManage }: { readonly canManage: boolean }) => {
  const recent = useQuery(recentQuery)
  const keys = useQuery({ ...keysQuery(null), enabled: canManage })
  const endpoints = useQuery({ ...endpointsQuery(null), enabled: canManage })
  if (recent.data === undefined || recent.data.data.some(({ status }) => status === "completed")) return null
  const steps = [
    {
      label: "Create an API key",
      isDone: (keys.data?.data.some(({ revoked_at }) => revoked_at === null) ?? false) || !canManage,
      action: <LinkButton to="/keys" size="sm">API keys</LinkButton>
    },
    {
      label: "Generate an image",
      isDone: false,
      action: <LinkButton to="/playground" size="sm">Playground</LinkButton>
    },
    {
      label: "Receive events by webhook",
      isDone: (endpoints.data?.data.length ?? 0) > 0,
      action: canManage ? <LinkButton to="/webhooks" size="sm">Webhooks</LinkButton> : null
    }
  ]
  return (
    <Card title="Get started">
      <div className="grid gap-5 lg:grid-cols-2">
        <ol className="space-y-2">
          {steps.map(({ action, isDone, label }, index) => (
            <li key={label} className="flex items-center gap-3 text-sm">
              <span
                className={names(
                  "grid size-6 shrink-0 place-items-center rounded-full text-xs font-medium [&_svg]:size-3.5",
                  isDone ? "bg-positive-soft text-positive" : "bg-raised text-muted"
                )}
              >
                {isDone ? <Icon name="check" /> : index + 1}
              </span>
              <span className="flex-1 font-medium">
                {label}
                {isDone && <span className="sr-only">, done</span>}
              </span>
              {action}
            </li>
          ))}
        </ol>
        <CodeCard
          label="List the models"
          text={`curl ${location.origin}/v1/models \\\n  -H "Authorization: Bearer $KINORA_API_KEY"`}
        />
      </div>
    </Card>
  )
}
