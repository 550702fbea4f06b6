//! Authentication of requests: client certificates, static tokens, tokens of ServiceAccounts; and the authorization of impersonation and of
//! paths that are no resources.
//!
//! Models `apiserver/pkg/authentication` and `apiserver/pkg/endpoints/filters/{authentication,authorization,impersonation}.go`.

use super::http_request::{HttpRequest, Target};
use super::issuer::{ISSUER, TokenIssuer, ValidToken};
use super::status::{Answer, failure};
use apiserver::{Attributes, Authorizer, UserInfo};
use cluster::Sim;
use k8s_model::{Str, Timestamp};
use std::collections::BTreeMap;

/// Users of static tokens.
pub type StaticTokens = BTreeMap<String, UserInfo>;

/// Reads a token file: lines with a token, a user, a uid and optionally groups (`auth/authenticator/token/tokenfile`).
///
/// # Errors
/// The line that is none.
pub fn static_tokens(text: &str) -> Result<StaticTokens, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::None)
        .from_reader(text.as_bytes());
    let mut tokens = StaticTokens::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let fields: Vec<&str> = record.iter().collect();
        let [token, name, uid, groups @ ..] = &fields[..] else {
            return Err(format!(
                "a token file must have at least 3 columns (token, user name, user uid), found {}",
                fields.len()
            ));
        };
        if token.is_empty() {
            continue;
        }
        let groups = groups.first().map_or("", |groups| groups).split(',');
        let groups: Vec<Str> = groups
            .map(str::trim)
            .filter(|group| !group.is_empty())
            .map(Into::into)
            .collect();
        let user = UserInfo {
            uid: (*uid).into(),
            ..UserInfo::new(name, groups)
        };
        tokens.insert((*token).to_owned(), user);
    }
    Ok(tokens)
}

/// Client of a connection from outside of the process.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// User of the client's certificate.
    pub certificate: Option<UserInfo>,
}

/// Authenticator of a server.
#[derive(Clone)]
pub struct Authenticator {
    /// Token of the administrator.
    pub token: Option<String>,
    /// Users of static tokens.
    pub tokens: StaticTokens,
    /// Issuer of the tokens of ServiceAccounts.
    pub issuer: TokenIssuer,
    /// True if a client without credentials is anonymous; without TLS whoever connects from this machine is administrator.
    pub has_anonymous: bool,
}

impl Authenticator {
    /// Returns the user of a request, `None` for one of this process or of a client that needs no credentials.
    ///
    /// # Errors
    /// The answer to invalid credentials.
    pub fn authenticate(
        &self,
        sim: &Sim,
        request: &HttpRequest,
    ) -> Result<Option<UserInfo>, Answer> {
        let Some(peer) = &request.peer else {
            return Ok(None);
        };
        if let Some(user) = &peer.certificate {
            return Ok(Some(user.clone()));
        }
        // An `EventSource` cannot send headers.
        let in_query = (request.path == "/loopscope/record").then(|| request.option("token"));
        let bearer = bearer(request).or(in_query.filter(|token| !token.is_empty()));
        match bearer {
            Some(token) => match self.token_user(sim, token, &[ISSUER.to_owned()]) {
                Some(Ok(valid)) => Ok(Some(valid.user)),
                Some(Err(_)) | None => Err(failure(401, "Unauthorized", "Unauthorized")),
            },
            None if self.has_anonymous => Ok(Some(UserInfo::new("system:anonymous", Vec::new()))),
            None => Ok(None),
        }
    }

    /// Returns the user of a token for audiences; `None` for an unknown token.
    pub fn token_user(
        &self,
        sim: &Sim,
        token: &str,
        audiences: &[String],
    ) -> Option<Result<ValidToken, String>> {
        let own = || (self.token.as_deref() == Some(token)).then(UserInfo::masters);
        if let Some(user) = self.tokens.get(token).cloned().or_else(own) {
            let audiences = audiences.iter().filter(|audience| *audience == ISSUER);
            let audiences = audiences.cloned().collect();
            return Some(Ok(ValidToken { user, audiences }));
        }
        let now: Timestamp = sim.store().wall_at(sim.now());
        self.issuer.validate(sim.store(), now, token, audiences)
    }
}

/// Returns the bearer token of a request.
pub fn bearer(request: &HttpRequest) -> Option<&str> {
    let header = request.header("authorization").trim();
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Refuses an impersonation that the client is not authorized for, and a path that is no resource and not for its user.
pub fn refusal(sim: &Sim, request: &HttpRequest, target: Option<&Target>) -> Option<Answer> {
    let authorizer = Authorizer::new(sim.store());
    let identity = request.identity.as_ref();
    if let Some(client) = identity.filter(|user| !user.is_privileged())
        && let Some(wanted) = request.impersonated_user()
    {
        let one = |group, resource, name| Attributes {
            verb: "impersonate",
            group,
            resource,
            name,
            ..Attributes::default()
        };
        let account = wanted.name.strip_prefix("system:serviceaccount:");
        let account = account.and_then(|account| account.split_once(':'));
        let user = match account {
            Some((namespace, name)) => Attributes {
                namespace,
                ..one("", "serviceaccounts", name)
            },
            None => one("", "users", wanted.name.as_str()),
        };
        let groups = wanted.groups.iter().filter(|group| {
            // Groups that the user has by its name.
            !matches!(
                group.as_str(),
                "system:authenticated" | "system:unauthenticated" | "system:serviceaccounts"
            ) && !group.starts_with("system:serviceaccounts:")
        });
        let groups = groups.map(|group| one("", "groups", group.as_str()));
        let refused = [user]
            .into_iter()
            .chain(groups)
            .find_map(|attributes| authorizer.check(client, &attributes).err());
        if let Some(error) = refused {
            return Some(Answer::error(&error, None));
        }
    }
    let user = request.user()?;
    if target.is_some() || request.path.starts_with("/page/") {
        return None;
    }
    let verb = request.method.to_ascii_lowercase();
    let path = request.path.as_str();
    let attributes = Attributes {
        verb: &verb,
        url: path,
        ..Attributes::default()
    };
    authorizer.allows(&user, &attributes).err()?;
    let message = format!(
        "forbidden: User {:?} cannot {verb} path {path:?}",
        user.name.as_str()
    );
    Some(failure(403, "Forbidden", &message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_file_is_read_as_upstream_does() {
        let tokens = static_tokens("t1,jane,7,\"devs,ops\"\nt2,bot,8\n,nobody,9\n").unwrap();
        assert_eq!(tokens.len(), 2);
        let jane = &tokens["t1"];
        assert_eq!((jane.name.as_str(), jane.uid.as_str()), ("jane", "7"));
        let groups: Vec<&str> = jane.groups.iter().map(Str::as_str).collect();
        assert_eq!(groups, ["devs", "ops", "system:authenticated"]);
        assert!(static_tokens("t1,jane\n").is_err_and(|problem| problem.contains("3 columns")));
    }
}
