import { Link } from "react-router";
import styles from "./Frame.module.css";

// title is the name of the portal, which the server wrote into the page.
export const title = document.title;

// logo is the path of the logo, if one is configured.
const logo = document.querySelector<HTMLMetaElement>('meta[name="portal-logo"]')?.content || "/icon.svg";

// Brand is the logo and name of the portal, and links to the home page.
export function Brand({ onGo }: { onGo?: () => void }) {
  return (
    <Link to="/" className={styles.brand} onClick={onGo} title={title}>
      <img src={logo} alt="" height={24} className={styles.logo} />
      <span className={styles.brandName}>{title}</span>
    </Link>
  );
}
