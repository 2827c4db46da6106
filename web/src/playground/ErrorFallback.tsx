import { Component, type ReactNode } from "react";

type Props = {
  children: ReactNode;
  instead: ReactNode;
  // of is the input of the children: when it changes, rendering is tried again.
  of: string;
};

// ErrorFallback shows a fallback in place of children that fail to render.
export class ErrorFallback extends Component<Props, { broken: boolean }> {
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
