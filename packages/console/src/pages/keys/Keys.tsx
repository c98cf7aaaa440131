/** The API keys of the account. */
import { useQuery } from "@tanstack/react-query"
import { sessionQuery } from "../../api/queries.ts"
import { Page } from "../../components/Card.tsx"
import { NoAccountRights } from "../../components/NoAccountRights.tsx"
import { KeyManager } from "./KeyManager.tsx"

/** The page. */
export const Keys = () => {
  const { data: session } = useQuery(sessionQuery)
  return (
    <Page
      title="API keys"
      about="Programs authenticate with a key. Give each program its own, so that you can revoke one alone."
    >
      {session?.scope === "key"
        ? <NoAccountRights what="manage API keys" />
        : <KeyManager owner={null} canChange={session?.role !== "viewer"} />}
    </Page>
  )
}
