"""Folders of AgentLab and BrowserGym experiment results, as rows of the official format."""
