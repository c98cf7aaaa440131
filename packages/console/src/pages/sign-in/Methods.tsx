/** Signing in with an identity provider, or as the person of a proxy. */
import { useQuery } from "@tanstack/react-query"
import { signInMethodsQuery } from "../../api/queries.ts"
import { AnchorButton, Button } from "../../components/Button.tsx"

/** A button for each way to sign in besides links and API keys. Nothing if there is none. */
export const Methods = ({ busy, onProxy }: { readonly busy: boolean; readonly onProxy: () => void }) => {
  const { data } = useQuery(signInMethodsQuery)
  if (data === undefined || (data.providers.length === 0 && data.proxy_user === null)) return null
  const returnTo = encodeURIComponent(location.pathname + location.search)
  return (
    <>
      <div className="space-y-2.5">
        {data.proxy_user !== null && (
          <Button variant="primary" size="lg" className="w-full" busy={busy} onClick={onProxy}>
            <span className="truncate">Continue as {data.proxy_user}</span>
          </Button>
        )}
        {data.providers.map(({ id, name, url }) => (
          <AnchorButton key={id} href={`${url}?return_to=${returnTo}`} size="lg" className="w-full">
            <span className="truncate">Continue with {name}</span>
          </AnchorButton>
        ))}
      </div>
      <p className="flex items-center gap-3 text-xs text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        or
      </p>
    </>
  )
}
