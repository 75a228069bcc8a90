"""Who acts. The offline agents here act with no model and know nothing of any domain."""
