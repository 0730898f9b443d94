/** Words of the dialog of a person: who they are, what they use, who sees what is open. */

export const people = {
  role: {
    viewer: "viewer: looks at what is shared with you",
    runner: "runner: runs models, uploads, trains, shares",
    admin: "admin: sees and changes everything",
  },
  storage: "Your recordings",
  used: (used: string) => `${used} MB on disk`,
  left: (used: string, most: string, left: string) => `${used} of ${most} MB on disk; ${left} MB left`,
  full: (used: string, most: string) => `${used} of ${most} MB on disk: full. Remove some to make new ones.`,
  sees: "Who may see it",
  recording: (title: string) => `Recording “${title}”`,
  run: (id: string) => `Training run ${id}`,
  private: "only its owner",
  team: "the team: everybody who has signed in",
  public: "whoever has the link, also without signing in",
  of: (owner: string) => `It belongs to ${owner}; only they and admins decide who sees it.`,
  ofNobody: "It belongs to nobody: admins decide who sees it.",
  ofAdmin: (owner: string) => `It belongs to ${owner}.`,
  ships: "Ships with Glassformer: everybody sees it.",
};
