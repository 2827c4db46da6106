import { Component, type ReactNode } from "react";

type Props = {
  children: ReactNode;
  instead: ReactNode;
  // of is what is shown: when it changes, what broke is tried again.
  of: string;
};

// Guard shows something else in place of what breaks.
export class Guard extends Component<Props, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override componentDidUpdate(before: Props) {
    if (this.state.broken && before.of !== this.props.of) {
      this.setState({ broken: false });
    }
  }

  override render() {
    return this.state.broken ? this.props.instead : this.props.children;
  }
}
