/** The page of unknown URLs. */
import { LinkButton } from "../components/Button.tsx"
import { Page } from "../components/Card.tsx"
import { Empty } from "../components/States.tsx"

/** The page of URLs that no page has. */
export const NotFound = () => (
  <Page title="Page not found" width="max-w-2xl">
    <div className="card">
      <Empty
        title="There is no page at this address"
        action={<LinkButton to="/" variant="primary">Open the overview</LinkButton>}
      >
        Check the address, or choose a page in the navigation.
      </Empty>
    </div>
  </Page>
)
