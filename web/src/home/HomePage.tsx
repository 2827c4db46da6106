import { usePermission } from "../app/permission";
import { useSession } from "../app/session";
import { Page } from "../components/Page";
import { texts } from "../text";
import { Changes } from "./Changes";
import { FirstSteps } from "./FirstSteps";
import { Resources } from "./Resources";
import { Sources } from "./Sources";
import { Tasks } from "./Tasks";
import { Templates } from "./Templates";
import styles from "./Home.module.css";

// HomePage answers at a glance: what runs, what is broken, what changed, and what can be created.
export default function HomePage() {
  const { guest, name, ownershipRefs } = useSession();
  const operator = usePermission("catalog.ingestion.read").allowed;
  const mine = !guest && ownershipRefs.length > 0;
  return (
    <Page title={guest ? texts.home.title : texts.home.welcome(name)} lead={texts.home.lead}>
      <FirstSteps operator={operator} />
      <div className={styles.columns}>
        <div className={styles.column}>
          <Resources mine={mine} own={ownershipRefs} />
          <div className={styles.later}>
            <Changes />
          </div>
        </div>
        <div className={styles.column}>
          <Templates />
          {!guest && <Tasks />}
          {operator && (
            <div className={styles.later}>
              <Sources />
            </div>
          )}
        </div>
      </div>
    </Page>
  );
}
